r"""The docs of the normalization of channels over a batch.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices.
"""

from reftorch._torch_docs._entries import add_docstr

_PARAMETERS = r"""    weight: :math:`w`, (C), or None for ones.
    bias: :math:`b`, (C), or None for zeros.
    running_mean: (C), or None. In training it moves towards the mean of the batch, in place.
    running_var: (C), or None. In training it moves towards the unbiased variance of the batch, in place."""
_NUMBERS = r"""    momentum: how far the running statistics move.
    eps: :math:`\epsilon`."""

add_docstr(
    "batch_norm",
    rf"""
Give each channel mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{{\sigma^2 + \epsilon}} + b`.

Args:
    input: (N, C) or (N, C, *).
{_PARAMETERS}
    training: whether to use mean and variance of the batch, and not the running ones.
{_NUMBERS}
    cudnn_enabled: has no effect on the CPU.

Shape: the shape of ``input``.

Raises:
    RuntimeError: a size is not C, dtypes differ, or running statistics are needed and missing.

Example:
    >>> torch.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[-1.0000],
            [ 1.0000]])
""",
)

add_docstr(
    "instance_norm",
    rf"""
Give each channel of each example mean 0 and variance 1: :func:`batch_norm`, where each example is a batch.

Args:
    input: (N, C, *).
{_PARAMETERS}
    use_input_stats: whether to use mean and variance of the input, and not the running ones.
{_NUMBERS}
    cudnn_enabled: has no effect on the CPU.

Shape: the shape of ``input``.

Raises:
    RuntimeError: a size is not C, dtypes differ, or running statistics are needed and missing.

Example:
    >>> torch.instance_norm(torch.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[[-1.0000,  1.0000]]])
""",
)

add_docstr(
    "native_batch_norm",
    rf"""
Return the result of :func:`batch_norm`, the means :math:`\mu`, and :math:`1 / \sqrt{{\sigma^2 + \epsilon}}`.

Args:
    input: (N, C) or (N, C, *).
{_PARAMETERS}
    training: whether to use mean and variance of the batch, and not the running ones.
{_NUMBERS}

Shape: the shape of ``input``; and twice (C), or (0) if ``training`` is False.

Raises:
    RuntimeError: a size is not C, dtypes differ, or running statistics are needed and missing.

Example:
    >>> torch.native_batch_norm(torch.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5)[1]
    tensor([2.])
""",
)

add_docstr(
    "native_batch_norm_backward",
    r"""
Return the gradients of :func:`native_batch_norm` for ``input``, ``weight`` and ``bias``.

Args:
    grad_out: the gradient of the first result.
    running_mean: the argument of the forward call.
    running_var: the argument of the forward call.
    save_mean: the second result of the forward call.
    save_invstd: the third result of the forward call.
    train: the argument ``training`` of the forward call.
    eps: the argument of the forward call.
    output_mask: three bools: which of the gradients to compute.

Shape: the shapes of ``input``, ``weight`` and ``bias``.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> x, one = torch.tensor([[1.0], [3.0]]), torch.ones(1)
    >>> args = (None, None, None, 2 * one, one, True, 1e-5, [True, True, True])
    >>> torch.ops.aten.native_batch_norm_backward(x, x, *args)
    (tensor([[0.],
            [0.]]), tensor([2.]), tensor([4.]))
""",
)
