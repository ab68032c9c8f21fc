r"""The docs of normalization of groups of channels.

Mirrors: torch/nn/functional.py
Leaves out: cuDNN.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "group_norm",
    r"""
Give each group of channels mean 0 and variance 1: the op of ``torch.nn.functional.group_norm``.

Args:
    input: :math:`(N, C, *)`.
    num_groups: the number of groups of equal size into which the channels are divided.
    weight: a factor for each channel, :math:`(C)`; None means ones.
    bias: a summand for each channel, :math:`(C)`; None means zeros.
    eps: the number that is added to the variance.
    cudnn_enabled: it has no effect.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the number of channels is not a multiple of ``num_groups``, or the sizes do not fit.

Example:
    >>> torch.group_norm(torch.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
""",
)

_ARGS = """\
    N: the number of images.
    C: the number of channels.
    HxW: the number of pixels.
    group: the number of groups.
"""

add_docstr(
    "native_group_norm",
    f"""
Return the result of :func:`group_norm`, and the mean and 1 / sqrt(variance + eps) of each group.

Args:
    input: :math:`(N, C, *)`.
    weight: a factor for each channel, :math:`(C)`; None means ones.
    bias: a summand for each channel, :math:`(C)`; None means zeros.
{_ARGS}    eps: the number that is added to the variance.

Shape: the shape of ``input``; :math:`(N, group)` twice.

Raises:
    RuntimeError: the sizes or dtypes do not fit.

Example:
    >>> torch.native_group_norm(torch.tensor([[1.0, 3.0, 10.0, 30.0]]), None, None, 1, 4, 1, 2, 1e-5)[1]
    tensor([[ 2., 20.]])
""",
)

add_docstr(
    "native_group_norm_backward",
    f"""
Return the gradients of :func:`native_group_norm` for ``input``, ``weight`` and ``bias``.

Args:
    grad_out: the gradient of the result.
    mean: the second result of the forward call.
    rstd: the third result of the forward call.
    weight: a factor for each channel, :math:`(C)`; None means ones.
{_ARGS}    output_mask: three bools: which of the gradients to compute.

Shape: the shapes of ``input``, ``weight`` and ``bias``.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> x = torch.tensor([[1.0, 3.0]])
    >>> _, mean, rstd = torch.native_group_norm(x, x[0], None, 1, 2, 1, 1, 1e-5)
    >>> mask = [True, True, True]
    >>> torch.ops.aten.native_group_norm_backward(torch.ones(1, 2), x, mean, rstd, x[0], 1, 2, 1, 1, mask)[2]
    tensor([1., 1.])
""",
)
