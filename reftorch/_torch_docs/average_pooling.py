r"""The docs of the means of windows.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures.
"""

from reftorch._torch_docs._entries import add_docstr

_PIXELS = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_WINDOWS = """    kernel_size: the size of a window.
    stride: the steps by which the window moves; the size of the window by default.
    padding: the number of zeros before and after each dimension; at most half of the size of a window.
    ceil_mode: whether a last window may hang over the end.
    count_include_pad: whether the zeros of the padding count as elements of a window."""
_AVG_EXAMPLES = {
    1: "torch.avg_pool1d(torch.tensor([[1.0, 5.0, 2.0, 4.0]]), 2)\n    tensor([[3., 3.]])",
    2: "torch._C._nn.avg_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)\n"
    "    tensor([[[[ 2.5000,  4.5000],\n              [10.5000, 12.5000]]]])",
    3: "torch._C._nn.avg_pool3d(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 2)\n    tensor([[[[[3.5000]]]]])",
}
_ADAPTIVE_EXAMPLES = {
    1: "torch.adaptive_avg_pool1d(torch.tensor([[1.0, 5.0, 2.0]]), 2)\n    tensor([[3.0000, 3.5000]])",
    2: "torch._C._nn.adaptive_avg_pool2d(torch.arange(9.0).reshape(1, 3, 3), (1, 1))\n    tensor([[[4.]]])",
    3: "torch._C._nn.adaptive_avg_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), (1, 1, 1))\n    tensor([[[[3.5000]]]])",
}

for _dims, _shape in _PIXELS.items():
    add_docstr(
        f"avg_pool{_dims}d",
        f"""
Return the mean of each window.

Args:
    input: tensor {_shape}, or without N.
{_WINDOWS}{
            ""
            if _dims == 1
            else '''
    divisor_override: the number by which the sum of a window is divided; by default the number of its elements.'''
        }

Shape: the same with fewer pixels.

Raises:
    RuntimeError: an argument is out of range, or no window fits.

Example:
    >>> {_AVG_EXAMPLES[_dims]}
""",
    )
    add_docstr(
        f"adaptive_avg_pool{_dims}d",
        f"""
Divide the pixels into as many parts as asked for, and return the mean of each part.

Args:
    input: tensor {_shape}, or without N.
    output_size: the number of parts along each dimension.

Shape: the shape of ``input``, with the sizes ``output_size``.

Raises:
    RuntimeError: ``input`` has another number of dimensions, or no elements.

Example:
    >>> {_ADAPTIVE_EXAMPLES[_dims]}
""",
    )

for _dims in (2, 3):
    _ones, _twos = (1,) * _dims, (2,) * _dims
    add_docstr(
        f"avg_pool{_dims}d_backward",
        f"""
Return the gradient of :func:`avg_pool{_dims}d` for ``input``.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.
    kernel_size: the argument of the forward call.
    stride: the argument of the forward call.
    padding: the argument of the forward call.
    ceil_mode: the argument of the forward call.
    count_include_pad: the argument of the forward call.
    divisor_override: the argument of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x, grad = torch.ones(1, 1, *{_twos}), torch.full((1, 1, *{_ones}), 8.0)
    >>> args = ({_twos}, {_twos}, {(0,) * _dims}, False, True, None)
    >>> torch.ops.aten.avg_pool{_dims}d_backward(grad, x, *args).flatten()[:2]
    tensor([{8 // 2**_dims}., {8 // 2**_dims}.])
""",
    )
    add_docstr(
        f"_adaptive_avg_pool{_dims}d",
        f"""
Return the mean of each part: what :func:`adaptive_avg_pool{_dims}d` calls unless all sizes are 1.

Args:
    output_size: the number of parts along each dimension.

Shape: the shape of ``input``, with the sizes ``output_size``.

Example:
    >>> torch._adaptive_avg_pool{_dims}d(torch.ones(1, *{_twos}), {_ones}).item()
    1.0
""",
    )
    add_docstr(
        f"_adaptive_avg_pool{_dims}d_backward",
        f"""
Return the gradient of :func:`_adaptive_avg_pool{_dims}d` for ``input``.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x, grad = torch.ones(1, 1, *{_twos}), torch.full((1, 1, *{_ones}), 8.0)
    >>> torch.ops.aten._adaptive_avg_pool{_dims}d_backward(grad, x).flatten()[:2]
    tensor([{8 // 2**_dims}., {8 // 2**_dims}.])
""",
    )
