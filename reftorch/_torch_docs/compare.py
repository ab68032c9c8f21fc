"""Comparisons, logical ops, and the choice between values.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "eq",
    """
Return whether the two elements are equal.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([ True, False])
""",
)

add_docstr(
    "ne",
    """
Return whether the two elements differ.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.ne(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([False,  True])
""",
)

add_docstr(
    "not_equal",
    """
Return whether the two elements differ: another name of :func:`ne`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.not_equal(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([False,  True])
""",
)

add_docstr(
    "lt",
    """
Return whether each element of ``input`` is less than that of ``other``.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.lt(torch.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])
""",
)

add_docstr(
    "less",
    """
Return whether each element of ``input`` is less than that of ``other``: another name of :func:`lt`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.less(torch.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])
""",
)

add_docstr(
    "le",
    """
Return whether each element of ``input`` is less than or equal to that of ``other``.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.le(torch.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
""",
)

add_docstr(
    "less_equal",
    """
Return whether each element of ``input`` is less than or equal to that of ``other``: another name of :func:`le`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.less_equal(torch.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
""",
)

add_docstr(
    "gt",
    """
Return whether each element of ``input`` is greater than that of ``other``.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.gt(torch.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
""",
)

add_docstr(
    "greater",
    """
Return whether each element of ``input`` is greater than that of ``other``: another name of :func:`gt`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.greater(torch.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
""",
)

add_docstr(
    "ge",
    """
Return whether each element of ``input`` is greater than or equal to that of ``other``.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.ge(torch.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
""",
)

add_docstr(
    "greater_equal",
    """
Return whether each element of ``input`` is greater than or equal to that of ``other``: another name of :func:`ge`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.greater_equal(torch.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
""",
)

add_docstr(
    "logical_and",
    """
Return whether both elements are true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_and(torch.tensor([True, True]), torch.tensor([1, 0]))
    tensor([ True, False])
""",
)

add_docstr(
    "logical_or",
    """
Return whether at least one of the two elements is true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_or(torch.tensor([True, False]), torch.tensor([0, 0]))
    tensor([ True, False])
""",
)

add_docstr(
    "logical_xor",
    """
Return whether exactly one of the two elements is true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_xor(torch.tensor([True, True]), torch.tensor([1, 0]))
    tensor([False,  True])
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
    "is_same_size",
    """
Return whether both tensors have the same shape.

Shape: any -> a Python bool.

Example:
    >>> torch.ones(2, 3).is_same_size(torch.zeros(2, 3))
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
