"""The docs of arithmetic of two tensors, or of a tensor and a number.

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
    "sigmoid_backward",
    r"""
Return the gradient of :func:`sigmoid` from its result: :math:`grad \cdot y (1 - y)`.

Shape: broadcast(``grad_output``, ``output``).

Example:
    >>> torch._C._nn.sigmoid_backward(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor([0.2500])
""",
)

add_docstr(
    "tanh_backward",
    r"""
Return the gradient of :func:`tanh` from its result: :math:`grad \cdot (1 - y^2)`.

Shape: broadcast(``grad_output``, ``output``).

Example:
    >>> torch._C._nn.tanh_backward(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor([0.7500])
""",
)
