"""The docs of comparisons, logical and bitwise ops, and shifts.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "bitwise_and",
    """
Return the bits that are set in both elements.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor has a floating-point dtype.

Example:
    >>> torch.bitwise_and(torch.tensor([6, 5]), 3)
    tensor([2, 1])
""",
)

add_docstr(
    "bitwise_or",
    """
Return the bits that are set in at least one of the two elements.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor has a floating-point dtype.

Example:
    >>> torch.bitwise_or(torch.tensor([6, 5]), 3)
    tensor([7, 7])
""",
)

add_docstr(
    "bitwise_xor",
    """
Return the bits that are set in exactly one of the two elements.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor has a floating-point dtype.

Example:
    >>> torch.bitwise_xor(torch.tensor([6, 5]), 3)
    tensor([5, 6])
""",
)

add_docstr(
    "bitwise_left_shift",
    r"""
Shift the bits of ``input`` left by ``other`` places: :math:`input \cdot 2^{other}`.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.bitwise_left_shift(torch.tensor([1, 3]), 2)
    tensor([ 4, 12])
""",
)

add_docstr(
    "bitwise_right_shift",
    """
Shift the bits of ``input`` right by ``other`` places, and keep the sign.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.bitwise_right_shift(torch.tensor([8, -8]), 2)
    tensor([ 2, -2])
""",
)

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
