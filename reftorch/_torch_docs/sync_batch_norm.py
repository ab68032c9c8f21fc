r"""The docs of the steps of a batch norm whose batch lies on several ranks.

``torch.nn.SyncBatchNorm`` puts these steps together: each rank computes statistics, the ranks gather them, and each
rank normalizes its part.

Mirrors: torch/nn/modules/_functions.py (``SyncBatchNorm``)
Leaves out: the layouts of channels for which PyTorch has kernels of CUDA only.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "batch_norm_stats",
    r"""
Return mean and :math:`1 / \sqrt{\sigma^2 + \epsilon}` of each channel. The first step of ``SyncBatchNorm`` on a rank.

Args:
    input: (N, C) or (N, C, *).
    eps: :math:`\epsilon`.

Shape: twice (C); float32 for 16-bit floats.

Raises:
    RuntimeError: ``input`` has fewer than 2 dimensions.
    NotImplementedError: ``input`` has no floating-point dtype.

Example:
    >>> torch.batch_norm_stats(torch.tensor([[1.0], [3.0]]), 0.0)
    (tensor([2.]), tensor([1.]))
""",
)

_GATHERED = r"""
Args:
    input: the part of the batch of this rank; its elements are not read.
    mean: (ranks, C), the means of the ranks.
    invstd: (ranks, C), from :func:`batch_norm_stats`.
    running_mean: (C) or None; is changed in place.
    running_var: (C) or None; is changed in place, towards the unbiased variance.
    momentum: the weight of the new statistics in the running ones.
    eps: :math:`\epsilon`.
"""

add_docstr(
    "batch_norm_gather_stats_with_counts",
    rf"""
Return mean and :math:`1 / \sqrt{{\sigma^2 + \epsilon}}` of the values of all ranks, given those of each rank.

{_GATHERED.strip()}
    counts: (ranks), the number of values in a channel on each rank.

Shape: twice (C).

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> mean, one = torch.tensor([[1.0], [4.0]]), torch.ones(2, 1)
    >>> torch.batch_norm_gather_stats_with_counts(mean, mean, one, None, None, 0.1, 0.0, torch.tensor([2.0, 1.0]))
    (tensor([2.]), tensor([0.5774]))
""",
)

add_docstr(
    "batch_norm_gather_stats",
    rf"""
Return what :func:`batch_norm_gather_stats_with_counts` returns for ranks with equally many values.

{_GATHERED.strip()}
    count: the number of values in a channel on each rank.

Shape: twice (C).

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> mean, one = torch.tensor([[1.0], [3.0]]), torch.ones(2, 1)
    >>> torch.batch_norm_gather_stats(mean, mean, one, None, None, 0.1, 0.0, 5)
    (tensor([2.]), tensor([0.7071]))
""",
)

add_docstr(
    "batch_norm_elemt",
    r"""
Return :math:`w (x - \mu) \, \text{invstd} + b`, the last step of ``SyncBatchNorm`` in forward.

Args:
    input: (N, C) or (N, C, *).
    weight: (C), the factor :math:`w` of each channel, or None.
    bias: (C), the summand :math:`b` of each channel, or None.
    mean: (C).
    invstd: (C).
    eps: is not used, because ``invstd`` contains it.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``input`` has fewer than 2 dimensions.
    NotImplementedError: ``input`` has no floating-point dtype.

Example:
    >>> torch.batch_norm_elemt(torch.tensor([[1.0], [3.0]]), None, None, torch.tensor([2.0]), torch.ones(1), 0.0)
    tensor([[-1.],
            [ 1.]])
""",
)

add_docstr(
    "batch_norm_backward_reduce",
    r"""
Return the sums of :math:`dy` and :math:`dy (x - \mu)` over this rank's values, and the gradients of weight and bias.

Args:
    grad_out: :math:`dy`, the gradient of the result.
    input: the input of the forward call.
    mean: (C), the mean of all ranks.
    invstd: (C), that of all ranks.
    weight: (C) or None.
    input_g: whether to return the two sums, which the gradient of the input needs.
    weight_g: whether to return the gradient of the weight.
    bias_g: whether to return the gradient of the bias.

Shape: four times (C), or None for what is not asked for.

Raises:
    RuntimeError: ``input`` has fewer than 2 dimensions.

Example:
    >>> x, one = torch.tensor([[1.0], [3.0]]), torch.ones(1)
    >>> torch.batch_norm_backward_reduce(x, x, 2 * one, one, one, True, False, True)
    (tensor([4.]), tensor([2.]), None, tensor([4.]))
""",
)

add_docstr(
    "batch_norm_backward_elemt",
    r"""
Return the gradient of the input of ``SyncBatchNorm``, given two sums over all ranks.

.. math:: dx = w \, \text{invstd} \left(dy - \tfrac{1}{n} \sum dy - \tfrac{1}{n} (x - \mu) \, \text{invstd}^2
    \sum dy (x - \mu)\right)

Args:
    grad_out: :math:`dy`, the gradient of the result.
    input: :math:`x`, the input of the forward call.
    mean: (C), the mean :math:`\mu` of all ranks.
    invstd: (C), that of all ranks.
    weight: (C), the factor :math:`w` of each channel, or None.
    sum_dy: (C), the first sum.
    sum_dy_xmu: (C), the second sum.
    count: (ranks), the number of values in a channel on each rank; their sum is :math:`n`.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``input`` has fewer than 2 dimensions.

Example:
    >>> x, one = torch.tensor([[1.0], [3.0]]), torch.ones(1)
    >>> torch.batch_norm_backward_elemt(x, x, 2 * one, one, None, 4 * one, 2 * one, 2 * one)
    tensor([[0.],
            [0.]])
""",
)
