"""Comparisons, logic, and the choice between values.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "eq",
    """
Tell where the two are equal, element by element.

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
Tell where the two differ, element by element.

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
Tell where the two differ: :func:`ne`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.not_equal(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([False,  True])
""",
)

add_docstr(
    "lt",
    """
Tell where ``input`` is less than ``other``.

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
Tell where ``input`` is less than ``other``: :func:`lt`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.less(torch.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])
""",
)

add_docstr(
    "le",
    """
Tell where ``input`` is less than or equal to ``other``.

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
Tell where ``input`` is less than or equal to ``other``: :func:`le`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.less_equal(torch.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
""",
)

add_docstr(
    "gt",
    """
Tell where ``input`` is greater than ``other``.

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
Tell where ``input`` is greater than ``other``: :func:`gt`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.greater(torch.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
""",
)

add_docstr(
    "ge",
    """
Tell where ``input`` is greater than or equal to ``other``.

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
Tell where ``input`` is greater than or equal to ``other``: :func:`ge`.

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.greater_equal(torch.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
""",
)

add_docstr(
    "logical_and",
    """
Tell where both are true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_and(torch.tensor([True, True]), torch.tensor([1, 0]))
    tensor([ True, False])
""",
)

add_docstr(
    "logical_or",
    """
Tell where either is true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_or(torch.tensor([True, False]), torch.tensor([0, 0]))
    tensor([ True, False])
""",
)

add_docstr(
    "logical_xor",
    """
Tell where exactly one of the two is true (not zero).

Shape: broadcast(``input``, ``other``), of bools.

Example:
    >>> torch.logical_xor(torch.tensor([True, True]), torch.tensor([1, 0]))
    tensor([False,  True])
""",
)

add_docstr(
    "isclose",
    r"""
Tell where the two are nearly equal: :math:`|input - other| \le atol + rtol \cdot |other|`.

Args:
    equal_nan: count two nans as equal.

Shape: broadcast(``input``, ``other``), of bools.

Raises:
    RuntimeError: the dtypes differ; a tolerance is negative.

Example:
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.1]))
    tensor([ True, False])
""",
)

add_docstr(
    "allclose",
    """
Tell whether all elements are nearly equal, as :func:`isclose` measures it.

Shape: broadcastable -> a Python bool.

Example:
    >>> torch.allclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.0]))
    True
""",
)

add_docstr(
    "equal",
    """
Tell whether both have the same shape and the same elements.

Shape: any -> a Python bool.

Example:
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2])), torch.equal(torch.ones(2), torch.ones(3))
    (True, False)
""",
)

add_docstr(
    "is_same_size",
    """
Tell whether both have the same shape.

Shape: any -> a Python bool.

Example:
    >>> torch.ones(2, 3).is_same_size(torch.zeros(2, 3))
    True
""",
)

add_docstr(
    "isin",
    """
Tell which elements occur among the test elements. Either may be a number.

Args:
    assume_unique: promise that neither has an element twice.
    invert: tell which do not occur.

Shape: ``elements``, any -> that of ``elements``, of bools.

Example:
    >>> torch.isin(torch.tensor([1, 2, 3, 4]), torch.tensor([2, 4]))
    tensor([False,  True, False,  True])
""",
)

add_docstr(
    "where",
    """
Take from ``input`` where ``condition`` holds, from ``other`` elsewhere. With ``condition`` alone: the coordinates
where it holds, as :func:`nonzero` with ``as_tuple=True``.

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
Bring each element into [``min``, ``max``].

Args:
    min: a number, or a tensor; None: no lower bound.
    max: a number, or a tensor; None: no upper bound. It wins where ``min`` is above it.

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
Raise each element to ``min`` at least.

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
Lower each element to ``max`` at most.

Args:
    max: a number, or a tensor.

Shape: broadcast(``input``, ``max``).

Example:
    >>> torch.clamp_max(torch.tensor([-2.0, 0.5]), 0)
    tensor([-2.,  0.])
""",
)
