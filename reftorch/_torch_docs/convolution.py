r"""The docs of convolutions.

Their public names are in ``torch`` and in ``torch.nn.functional``.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, the backends, and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

_PIXELS = {1: ("L", "length"), 2: ("H, W", "height and width"), 3: ("D, H, W", "depth, height and width")}
_EXAMPLES = {
    "conv1d": """
    >>> torch.conv1d(torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), torch.tensor([[[1.0, -1.0]]]), padding=1)
    tensor([[[-1., -1., -1., -1.,  4.]]])
""",
    "conv2d": """
    >>> torch.conv2d(torch.arange(9.0).reshape(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[ 8., 12.],
              [20., 24.]]]])
""",
    "conv3d": """
    >>> torch.conv3d(torch.ones(1, 2, 4, 4, 4), torch.ones(3, 2, 2, 2, 2), stride=2).shape
    torch.Size([1, 3, 2, 2, 2])
""",
    "conv_transpose1d": """
    >>> torch.conv_transpose1d(torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 10.0, 100.0]]]))
    tensor([[[  1.,  12., 120., 200.]]])
""",
    "conv_transpose2d": """
    >>> torch.conv_transpose2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
""",
    "conv_transpose3d": """
    >>> torch.conv_transpose3d(torch.ones(1, 2, 2, 2, 2), torch.ones(2, 3, 2, 2, 2), stride=2).shape
    torch.Size([1, 3, 4, 4, 4])
""",
}

for _dims, (_letters, _words) in _PIXELS.items():
    add_docstr(
        f"conv{_dims}d",
        rf"""
Slide a kernel over {_dims}-dimensional signals: each element of the output is the sum of the products of the kernel's
elements with the elements of the input on which they lie, plus the bias (this is cross-correlation).

Args:
    input: :math:`(N, C, {_letters})`, or :math:`(C, {_letters})` for one example.
    weight: the kernels, :math:`(M, C / groups, *kernel)`, where M is the number of channels of the output.
    bias: :math:`(M)`; None means zeros.
    stride: the steps by which the kernel moves: an int or one int for each dimension.
    padding: the number of zeros before and after each dimension, ``"valid"`` for none, or ``"same"`` for so many that
        the output has the {_words} of the input, which needs stride 1.
    dilation: the distance between elements of the kernel.
    groups: the number of groups into which the channels are divided; each group of outputs sees one group of inputs.

Shape: :math:`(N, M, *)`, where each size is :math:`(size + 2 padding - dilation (kernel - 1) - 1) / stride + 1`,
rounded down.

Raises:
    RuntimeError: the sizes do not fit, or ``stride``, ``dilation`` or ``groups`` is not positive.

Example:{_EXAMPLES[f"conv{_dims}d"]}""",
    )
    add_docstr(
        f"conv_transpose{_dims}d",
        rf"""
Add to the output, for each element of the input, the kernel multiplied by the element: the gradient of
:func:`conv{_dims}d` by its input, taken as a function of its own.

Args:
    input: :math:`(N, C, {_letters})`, or :math:`(C, {_letters})` for one example.
    weight: the kernels, :math:`(C, M / groups, *kernel)`, where M is the number of channels of the output.
    bias: :math:`(M)`; None means zeros.
    stride: the distance at which the kernels of neighbouring elements are laid.
    padding: the number of elements that are removed at each end of each dimension.
    output_padding: the number of elements that are added at the end of each dimension; less than the stride or the
        dilation.
    groups: the number of groups into which the channels are divided; each group of outputs sees one group of inputs.
    dilation: the distance between elements of the kernel.

Shape: :math:`(N, M, *)`, where each size is
:math:`(size - 1) stride - 2 padding + dilation (kernel - 1) + output\_padding + 1`.

Raises:
    RuntimeError: the sizes do not fit, or ``stride``, ``dilation`` or ``groups`` is not positive.

Example:{_EXAMPLES[f"conv_transpose{_dims}d"]}""",
    )

add_docstr(
    "convolution",
    """
Convolve signals of one, two or three dimensions: the op that :func:`conv2d` and its relatives call.

Args:
    input: tensor of a batch, with the channels in dimension 1.
    weight: the kernels; the number of its dimensions says how many the convolution has.
    bias: a number for each channel of the output, or None.
    stride: the steps by which the kernel moves.
    padding: the number of zeros before and after each dimension.
    dilation: the distance between elements of the kernel.
    transposed: whether to compute :func:`conv_transpose2d` instead of :func:`conv2d`.
    output_padding: the number of elements that a transposed convolution adds at the end of each dimension.
    groups: the number of groups into which the channels are divided.

Shape: as for :func:`conv2d` and :func:`conv_transpose2d`.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> x, w = torch.tensor([[[1.0, 2.0, 3.0]]]), torch.tensor([[[1.0, 1.0]]])
    >>> torch.convolution(x, w, None, [1], [0], [1], False, [0], 1)
    tensor([[[3., 5.]]])
""",
)

add_docstr(
    "convolution_backward",
    """
Return the gradients of :func:`convolution` for ``input``, ``weight`` and ``bias``.

Args:
    bias_sizes: the shape of the bias; it has no effect.
    stride: the argument of the forward call.
    padding: the argument of the forward call.
    dilation: the argument of the forward call.
    transposed: the argument of the forward call.
    output_padding: the argument of the forward call.
    groups: the argument of the forward call.
    output_mask: three bools: which of the gradients to compute.

Shape: the shapes of ``input``, ``weight`` and ``bias``.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> x, w, grad = torch.tensor([[[1.0, 2.0, 3.0]]]), torch.tensor([[[1.0, 1.0]]]), torch.tensor([[[1.0, 10.0]]])
    >>> args = (None, [1], [0], [1], False, [0], 1, [True, True, False])
    >>> torch.ops.aten.convolution_backward(grad, x, w, *args)[:2]
    (tensor([[[ 1., 11., 10.]]]), tensor([[[21., 32.]]]))
""",
)

add_docstr(
    "_convolution",
    r"""
Compute a convolution as ``torch.ops.aten.convolution`` does: the name that PyTorch's traces and tools have for it.

Args:
    benchmark, deterministic, cudnn_enabled, allow_tf32: they choose an algorithm of cuDNN in PyTorch, and have no
        effect here. The arguments before them are those of ``torch.ops.aten.convolution``.

Shape: :math:`(N, C, *), (F, C / groups, *) -> (N, F, *)`.

Example:
    >>> x, w = torch.tensor([[[1.0, 2.0, 3.0]]]), torch.tensor([[[1.0, 1.0]]])
    >>> torch.ops.aten._convolution(x, w, None, [1], [0], [1], False, [0], 1, False, False, True, False)
    tensor([[[3., 5.]]])
""",
)

add_docstr(
    "conv_tbc",
    r"""
Slide windows over sequences whose first dimension is the time: :func:`conv1d` for tensors (time, batch, channels).

:math:`y_{t, b, f} = bias_f + \sum_{k, c} x_{t + k - pad,\, b,\, c}\, w_{k, c, f}`, with zeros outside of x.

Args:
    input: sequences :math:`(T, B, C)`.
    weight: windows :math:`(K, C, F)`.
    bias: :math:`(F)`.
    pad: the number of zeros before and after each sequence.

Shape: :math:`(T + 2\,pad - K + 1, B, F)`.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x, w, b = torch.arange(4.0).reshape(4, 1, 1), torch.ones(2, 1, 1), torch.zeros(1)
    >>> torch.conv_tbc(x, w, b).flatten()
    tensor([1., 3., 5.])
""",
)
