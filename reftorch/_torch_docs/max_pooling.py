r"""The docs of the largest elements of windows.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures.
"""

from reftorch._torch_docs._entries import add_docstr

_PIXELS = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_WINDOWS = """    kernel_size: the size of a window.
    stride: the steps by which the window moves; the size of the window by default.
    padding: the number of places before and after each dimension that windows may cover; at most half of the size of a
        window. They hold negative infinity.
    dilation: the distance between elements of a window.
    ceil_mode: whether a last window may hang over the end."""
_RAISES = """Raises:
    RuntimeError: an argument is out of range, or no window fits."""
_MAX_EXAMPLES = {
    1: """
    >>> torch.max_pool1d(torch.tensor([[1.0, 5.0, 2.0, 4.0]]), 2)
    tensor([[5., 4.]])
""",
    2: """
    >>> torch.max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
""",
    3: """
    >>> torch.max_pool3d(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
    tensor([[[[[7.]]]]])
""",
}
_INDEX_EXAMPLES = {
    1: """
    >>> torch.max_pool1d_with_indices(torch.tensor([[1.0, 5.0, 2.0, 4.0]]), 2)
    (tensor([[5., 4.]]), tensor([[1, 3]]))
""",
    2: """
    >>> torch._C._nn.max_pool2d_with_indices(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[1]
    tensor([[[[ 5,  7],
              [13, 15]]]])
""",
    3: """
    >>> torch._C._nn.max_pool3d_with_indices(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 2)[1]
    tensor([[[[[7]]]]])
""",
}

for _dims, _shape in _PIXELS.items():
    add_docstr(
        f"max_pool{_dims}d",
        f"""
Return the largest element of each window.

Args:
    input: tensor {_shape}, or without N.
{_WINDOWS}

Shape: the same with fewer pixels.

{_RAISES}

Example:{_MAX_EXAMPLES[_dims]}""",
    )
    add_docstr(
        f"max_pool{_dims}d_with_indices",
        f"""
Return the largest element of each window, and its place in the plane of all pixels of its channel.

Args:
    input: tensor {_shape}, or without N.
{_WINDOWS}

Shape: two tensors of the shape that :func:`max_pool{_dims}d` returns.

{_RAISES}

Example:{_INDEX_EXAMPLES[_dims]}""",
    )

for _dims in (2, 3):
    _ones, _twos = (1,) * _dims, (2,) * _dims
    add_docstr(
        f"max_pool{_dims}d_with_indices_backward",
        f"""
Return the gradient of :func:`max_pool{_dims}d_with_indices` for ``input``.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.
    kernel_size: the argument of the forward call.
    stride: the argument of the forward call.
    padding: the argument of the forward call.
    dilation: the argument of the forward call.
    ceil_mode: the argument of the forward call.
    indices: the second result of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit, or an index is out of range.

Example:
    >>> x, grad, at = torch.ones(1, 1, *{_twos}), torch.ones(1, 1, *{_ones}), torch.full((1, 1, *{_ones}), 1)
    >>> args = ({_twos}, {_twos}, {(0,) * _dims}, {_ones}, False, at)
    >>> torch.ops.aten.max_pool{_dims}d_with_indices_backward(grad, x, *args).flatten()[:4]
    tensor([0., 1., 0., 0.])
""",
    )
    add_docstr(
        f"max_unpool{_dims}d",
        f"""
Write elements to the places from which max pooling took them; all other elements are 0.

Args:
    input: tensor {_PIXELS[_dims]}, or without N.
    indices: the places, as :func:`max_pool{_dims}d_with_indices` returns them.
    output_size: the sizes of the pixels of the result.
{
            '''    stride: it has no effect.
    padding: it has no effect.
'''
            if _dims == 3
            else ""
        }
Shape: the shape of ``input``, with the sizes ``output_size``.

Raises:
    RuntimeError: the shapes differ, or an index is out of range.

Example:
    >>> x, at = torch.full((1, 1, *{_ones}), 7.0), torch.full((1, 1, *{_ones}), 2)
    >>> torch._C._nn.max_unpool{_dims}d(x, at, {_twos}{
            f", {_ones}, {(0,) * _dims}" if _dims == 3 else ""
        }).flatten()[:4]
    tensor([0., 0., 7., 0.])
""",
    )
    add_docstr(
        f"fractional_max_pool{_dims}d",
        f"""
Return the largest element of each window, and its place, where the windows lie at random distances.

Args:
    input: tensor {_PIXELS[_dims]}, or without N.
    kernel_size: the size of a window.
    output_size: the number of windows along each dimension.
    random_samples: (N, C, {_dims}), numbers in [0, 1) that choose the places of the windows.

Shape: two tensors of the shape of ``input``, with the sizes ``output_size``.

Raises:
    RuntimeError: the windows do not fit, or the samples have another shape or dtype.

Example:
    >>> x = torch.arange({3**_dims}.0).reshape(1, 1, *{(3,) * _dims})
    >>> torch._C._nn.fractional_max_pool{_dims}d(x, {_twos}, {_ones}, torch.zeros(1, 1, {_dims}))[1].item()
    {3**_dims - 1}
""",
    )
    add_docstr(
        f"fractional_max_pool{_dims}d_backward",
        f"""
Return the gradient of :func:`fractional_max_pool{_dims}d` for ``input``.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.
    kernel_size: the argument of the forward call.
    output_size: the argument of the forward call.
    indices: the second result of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit, or an index is out of range.

Example:
    >>> x, grad, at = torch.ones(1, 1, *{_twos}), torch.ones(1, 1, *{_ones}), torch.full((1, 1, *{_ones}), 1)
    >>> torch.ops.aten.fractional_max_pool{_dims}d_backward(grad, x, {_twos}, {_ones}, at).flatten()[:4]
    tensor([0., 1., 0., 0.])
""",
    )
    add_docstr(
        f"adaptive_max_pool{_dims}d_backward",
        f"""
Return the gradient of :func:`adaptive_max_pool{_dims}d` for ``input``.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.
    indices: the second result of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit, or an index is out of range.

Example:
    >>> x, grad, at = torch.ones(1, 1, *{_twos}), torch.ones(1, 1, *{_ones}), torch.full((1, 1, *{_ones}), 1)
    >>> torch.ops.aten.adaptive_max_pool{_dims}d_backward(grad, x, at).flatten()[:4]
    tensor([0., 1., 0., 0.])
""",
    )

_ADAPTIVE_EXAMPLES = {
    1: "torch.adaptive_max_pool1d(torch.tensor([[1.0, 5.0, 2.0]]), 2)\n    (tensor([[5., 5.]]), tensor([[1, 1]]))",
    2: "torch._C._nn.adaptive_max_pool2d(torch.arange(9.0).reshape(1, 3, 3), (1, 1))\n"
    "    (tensor([[[8.]]]), tensor([[[8]]]))",
    3: "torch._C._nn.adaptive_max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), (1, 1, 1))\n"
    "    (tensor([[[[7.]]]]), tensor([[[[7]]]]))",
}
for _dims, _example in _ADAPTIVE_EXAMPLES.items():
    add_docstr(
        f"adaptive_max_pool{_dims}d",
        f"""
Divide the pixels into as many parts as asked for, and return the largest element of each part and its place.

Args:
    input: tensor {_PIXELS[_dims]}, or without N.
    output_size: the number of parts along each dimension.

Shape: two tensors of the shape of ``input``, with the sizes ``output_size``.

Raises:
    RuntimeError: ``input`` has another number of dimensions, or no elements.

Example:
    >>> {_example}
""",
    )
