"""The docs of padding.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "constant_pad_nd",
    """
Pad a tensor with one value; ``torch.nn.functional.pad`` has other modes too.

Args:
    pad: the numbers of elements to add before and after: first of the last dimension, then of the dimension before it,
        and so on. A negative number removes elements.
    value: the value of the padding.

Shape: the shape of ``input``, with ``pad[0] + pad[1]`` added to the last size, ``pad[2] + pad[3]`` to the size before
it.

Raises:
    RuntimeError: ``pad`` has an odd length, or more than two numbers for each dimension; or a size would be negative.

Example:
    >>> torch.constant_pad_nd(torch.tensor([[1, 2]]), (1, 0, 0, 1), 9)
    tensor([[9, 1, 2],
            [9, 9, 9]])
""",
)

add_docstr(
    "pad",
    """
Put a border around a tensor: what :func:`torch.nn.functional.pad` calls.

Args:
    pad: the numbers of elements to add before and after: first of the last dimension, then of the dimension before it,
        and so on. A negative number removes elements.
    mode: the content of the border: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    value: the value of a constant border, 0 by default.

Shape: the shape of ``input``, with ``pad[0] + pad[1]`` added to the last size, ``pad[2] + pad[3]`` to the size before
it.

Raises:
    RuntimeError: ``pad`` has an odd length or too many numbers, or does not fit the sizes.
    NotImplementedError: ``mode`` is unknown, or does not take this number of dimensions.

Example:
    >>> torch._C._nn.pad(torch.tensor([[1, 2, 3]]), (1, 1), "circular")
    tensor([[3, 1, 2, 3, 1]])
""",
)
add_docstr(
    "_pad_enum",
    """
Put a border around a tensor: :func:`pad` with a number for the mode.

Args:
    pad: the argument of :func:`pad`.
    mode: the content of the border: 0 reflects, 1 replicates, 2 is circular, 3 is constant.
    value: the value of a constant border, 0 by default.

Shape: that of the result of :func:`pad`.

Example:
    >>> torch._C._nn._pad_enum(torch.tensor([[1, 2, 3]]), (1, 1), 1)
    tensor([[1, 1, 2, 3, 3]])
""",
)
add_docstr(
    "_pad_circular",
    """
Put a border around a tensor whose elements are those of the other end.

Args:
    pad: the numbers of elements to add before and after, for all dimensions but the first one or two: first of the last
        dimension, then of the dimension before it, and so on. A negative number removes elements.

Shape: the shape of ``input``, with ``pad[0] + pad[1]`` added to the last size, and so on.

Raises:
    RuntimeError: ``pad`` has another length, wraps around more than once, or leaves nothing.

Example:
    >>> torch._C._nn._pad_circular(torch.tensor([[1, 2, 3]]), (2, 0))
    tensor([[2, 3, 1, 2, 3]])
""",
)
