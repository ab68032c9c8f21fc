"""Arithmetic and bit operations of two tensors, or of a tensor and a number; fused multiply-adds.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "add",
    r"""
Add ``other``, multiplied by ``alpha``: :math:`input + alpha \cdot other`.

Args:
    other: a tensor, or a number.
    alpha: the factor of ``other``; an integer if the result has an integer dtype.

Shape: broadcast(``input``, ``other``); the dtype is promoted from both.

Raises:
    RuntimeError: the shapes do not broadcast.

Example:
    >>> torch.add(torch.tensor([1, 2]), 10)
    tensor([11, 12])
    >>> torch.add(torch.tensor([[1.0], [2.0]]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([[21., 41.],
            [22., 42.]])
""",
)

add_docstr(
    "sub",
    r"""
Subtract ``other``, multiplied by ``alpha``: :math:`input - alpha \cdot other`.

Args:
    other: a tensor, or a number.
    alpha: the factor of ``other``.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor is boolean; use ``^`` or :func:`logical_xor` instead.

Example:
    >>> torch.sub(torch.tensor([5, 6]), torch.tensor([1, 2]), alpha=2)
    tensor([3, 2])
""",
)

add_docstr(
    "rsub",
    r"""
Subtract in reverse order: :math:`other - alpha \cdot input`.

Args:
    other: a tensor, or a number.
    alpha: the factor of ``input``.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.rsub(torch.tensor([1, 2]), 10)
    tensor([9, 8])
""",
)

add_docstr(
    "mul",
    """
Multiply element by element. For the product of matrices see :func:`matmul`.

Args:
    other: a tensor, or a number.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.mul(torch.tensor([[1], [2]]), torch.tensor([10, 20, 30]))
    tensor([[10, 20, 30],
            [20, 40, 60]])
""",
)

add_docstr(
    "div",
    """
Divide element by element; integers are divided as floats.

Args:
    other: a tensor, or a number.
    rounding_mode: None does not round. "trunc" rounds the quotient towards 0, "floor" rounds it down; with both,
        integers stay integers.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: the rounding mode is unknown, or an integer is divided by 0 with a rounding mode.

Example:
    >>> torch.div(torch.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
""",
)

add_docstr(
    "true_divide",
    """
Divide element by element; integers are divided as floats. The op is :func:`div` without a rounding mode.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.true_divide(torch.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
""",
)

add_docstr(
    "floor_divide",
    """
Divide and round down: :func:`div` with ``rounding_mode="floor"``, Python's ``//``.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: an integer is divided by 0.

Example:
    >>> torch.floor_divide(torch.tensor([7, -7]), 2)
    tensor([ 3, -4])
""",
)

add_docstr(
    "remainder",
    """
Return the remainder of the division that rounds down, as Python's ``%`` does. The remainder has the sign of ``other``.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: an integer is divided by 0.

Example:
    >>> torch.remainder(torch.tensor([7, -7]), 3)
    tensor([1, 2])
""",
)

add_docstr(
    "fmod",
    """
Return the remainder of the division that rounds towards 0, as C's ``fmod`` does. The remainder has the sign of
``input``.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: an integer is divided by 0.

Example:
    >>> torch.fmod(torch.tensor([7, -7]), 3)
    tensor([ 1, -1])
""",
)

add_docstr(
    "maximum",
    """
Return the larger of the two elements; nan if either is nan.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.maximum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([3, 5])
""",
)

add_docstr(
    "minimum",
    """
Return the smaller of the two elements; nan if either is nan.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.minimum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "pow",
    """
Raise ``input`` to a power: :math:`input^{exponent}`. Either argument may be a number.

Args:
    exponent: a tensor, or a number; not negative if both are integers.

Shape: broadcast(``input``, ``exponent``).

Raises:
    RuntimeError: an integer is raised to a negative integer.

Example:
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    >>> torch.pow(2, torch.tensor([1, 2, 3]))
    tensor([2, 4, 8])
""",
)

add_docstr(
    "float_power",
    """
Raise ``input`` to a power. The computation is in float64, whatever the dtypes are.

Args:
    exponent: a tensor, or a number.

Shape: broadcast(``input``, ``exponent``), of float64.

Example:
    >>> torch.float_power(torch.tensor([4, 9]), 0.5)
    tensor([2., 3.], dtype=torch.float64)
""",
)

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
    "addcmul",
    r"""
Add a product: :math:`input + value \cdot tensor1 \cdot tensor2`.

Args:
    value: the factor of the product.

Shape: broadcast(``input``, ``tensor1``, ``tensor2``).

Example:
    >>> torch.addcmul(torch.zeros(2), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), value=10)
    tensor([30., 80.])
""",
)

add_docstr(
    "addcdiv",
    r"""
Add a quotient: :math:`input + value \cdot tensor1 / tensor2`.

Args:
    value: the factor of the quotient.

Shape: broadcast(``input``, ``tensor1``, ``tensor2``).

Raises:
    RuntimeError: ``tensor1`` and ``tensor2`` have integer dtypes.

Example:
    >>> torch.addcdiv(torch.zeros(2), torch.tensor([1.0, 6.0]), torch.tensor([2.0, 4.0]), value=10)
    tensor([ 5., 15.])
""",
)

add_docstr(
    "lerp",
    r"""
Interpolate linearly between ``input`` and ``end``: :math:`input + weight \cdot (end - input)`.

Args:
    weight: a tensor, or a number; 0 gives ``input``, 1 gives ``end``.

Shape: broadcast(``input``, ``end``, ``weight``).

Raises:
    RuntimeError: the dtypes differ.

Example:
    >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([10.0, 20.0]), 0.25)
    tensor([ 2.5000, 12.5000])
""",
)
