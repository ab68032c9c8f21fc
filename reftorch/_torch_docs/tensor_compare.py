"""The docs of choices, clamping and answers: nan, infinite, in a set, close, equal.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "where",
    """
Return the elements of ``input`` where ``condition`` is true, and those of ``other`` elsewhere. With ``condition``
alone, return the coordinates where it is true, as :func:`nonzero` with ``as_tuple=True`` does.

Args:
    condition: a tensor of bools.
    input: a tensor, or a number.
    other: a tensor, or a number.

Shape: broadcast(``condition``, ``input``, ``other``).

Example:
    >>> x = torch.tensor([-1.0, 2.0, -3.0])
    >>> torch.where(x > 0, x, 0)
    tensor([0., 2., 0.])
    >>> torch.where(x > 0)
    (tensor([1]),)
""",
)

add_docstr(
    "clamp",
    """
Clamp each element to the interval [``min``, ``max``].

Args:
    min: a number, or a tensor; None means no lower bound.
    max: a number, or a tensor; None means no upper bound. If ``min`` is above ``max``, the result is ``max``.

Shape: broadcast(``input``, ``min``, ``max``).

Raises:
    RuntimeError: neither bound is given.

Example:
    >>> torch.clamp(torch.tensor([-2.0, 0.5, 3.0]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
""",
)

add_docstr(
    "clamp_min",
    """
Replace each element below ``min`` by ``min``.

Args:
    min: a number, or a tensor.

Shape: broadcast(``input``, ``min``).

Example:
    >>> torch.clamp_min(torch.tensor([-2.0, 0.5]), 0)
    tensor([0.0000, 0.5000])
""",
)

add_docstr(
    "clamp_max",
    """
Replace each element above ``max`` by ``max``.

Args:
    max: a number, or a tensor.

Shape: broadcast(``input``, ``max``).

Example:
    >>> torch.clamp_max(torch.tensor([-2.0, 0.5]), 0)
    tensor([-2.,  0.])
""",
)

add_docstr(
    "isclose",
    r"""
Return whether the two elements are nearly equal: :math:`|input - other| \le atol + rtol \cdot |other|`.

Args:
    equal_nan: count two nans as equal.

Shape: broadcast(``input``, ``other``), of bools.

Raises:
    RuntimeError: the dtypes differ, or a tolerance is negative.

Example:
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.1]))
    tensor([ True, False])
""",
)

add_docstr(
    "allclose",
    """
Return whether all elements are nearly equal, in the sense of :func:`isclose`.

Shape: broadcastable -> a Python bool.

Example:
    >>> torch.allclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.0]))
    True
""",
)

add_docstr(
    "equal",
    """
Return whether both tensors have the same shape and the same elements.

Shape: any -> a Python bool.

Example:
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2])), torch.equal(torch.ones(2), torch.ones(3))
    (True, False)
""",
)

add_docstr(
    "isnan",
    """
Return whether each element is nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isnan(torch.tensor([1.0, torch.nan]))
    tensor([False,  True])
""",
)

add_docstr(
    "isinf",
    """
Return whether each element is inf or -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isinf(torch.tensor([1.0, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isfinite",
    """
Return whether each element is neither infinite nor nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isfinite(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([ True, False, False])
""",
)

add_docstr(
    "isposinf",
    """
Return whether each element is inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isposinf(torch.tensor([torch.inf, -torch.inf]))
    tensor([ True, False])
""",
)

add_docstr(
    "isneginf",
    """
Return whether each element is -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isneginf(torch.tensor([torch.inf, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isreal",
    """
Return whether each element is a real number: always True, because there are no complex dtypes.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isreal(torch.tensor([1.0, 2.0]))
    tensor([True, True])
""",
)

add_docstr(
    "is_nonzero",
    """
Return whether the only element of ``input`` is not zero.

Shape: one element -> a Python bool.

Raises:
    RuntimeError: the number of elements is not 1.

Example:
    >>> torch.is_nonzero(torch.tensor([2.0]))
    True
""",
)

add_docstr(
    "isin",
    """
Return whether each element occurs among the test elements. Either argument may be a number.

Args:
    assume_unique: promise that neither argument contains duplicates.
    invert: return whether each element does not occur.

Shape: ``elements``, any -> the shape of ``elements``, of bools.

Example:
    >>> torch.isin(torch.tensor([1, 2, 3, 4]), torch.tensor([2, 4]))
    tensor([False,  True, False,  True])
""",
)
