"""Functions of modules that PyTorch writes in Python, with a backward pass of their own.

Mirrors: torch/nn/modules/_functions.py
Leaves out: BackwardHookFunction.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.function import Function

__all__ = ["CrossMapLRN2d", "SyncBatchNorm"]


def _forward_windows(channels: int, size: int) -> list[list[float]]:
    """Row c says which squares the sum of channel c has.

    The sum of a channel is that of the channel before, plus a square that comes in, minus a square that goes out. As in
    PyTorch, the first square never goes out.
    """
    reach = int((size - 1) / 2 + 1)
    rows = [[1.0 if j < min(reach, channels) else 0.0 for j in range(channels)]]
    for c in range(1, channels):
        row = list(rows[-1])
        if c < channels - reach + 1:
            row[c + reach - 1] += 1
        if c > reach:
            row[c - reach] -= 1
        rows.append(row)
    return rows


def _backward_windows(channels: int, size: int) -> list[list[float]]:
    """Row c says which ratios the gradient of channel c has: ``size`` of them, from c - before on."""
    before = int(size - (size - 1) / 2)
    return [[1.0 if 0 <= j - c + before < size else 0.0 for j in range(channels)] for c in range(channels)]


def _summed(windows: list[list[float]], images: Tensor) -> Tensor:
    """Add the channels of (N, C, H, W) that each row of windows (C, C) names."""
    return _VF.matmul(images.new_tensor(windows), images.flatten(2)).reshape(images.shape)


class CrossMapLRN2d(Function):
    """Divides each element by a power of the squares at the same pixel of channels nearby.

    Mirrors torch/nn/modules/_functions.py, ``CrossMapLRN2d``.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        ctx.size, ctx.alpha, ctx.beta, ctx.k = size, alpha, beta, k
        ctx.scale = _summed(_forward_windows(input.size(1), size), input**2) * (alpha / size) + k
        output = ctx.scale**-beta * input
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        input, output = ctx.saved_tensors
        ratios = _summed(_backward_windows(input.size(1), ctx.size), grad_output * output / ctx.scale)
        own = ctx.scale**-ctx.beta * grad_output
        return own - (2 * ctx.alpha * ctx.beta / ctx.size) * input * ratios, None, None, None, None


class SyncBatchNorm(Function):
    """Batch normalization with the statistics of all ranks. See Note [Statistics of several ranks].

    Forward gathers mean, invstd and count of each rank, backward adds up two sums per channel. The gradients of weight
    and bias are those of this rank's part, because DistributedDataParallel averages them with all others.

    Mirrors torch/nn/modules/_functions.py, ``SyncBatchNorm``.
    """

    @staticmethod
    def forward(
        ctx: Any,
        input: Any,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_var: Any,
        eps: float,
        momentum: float,
        process_group: Any,
        world_size: int,
    ) -> Any:
        from reftorch.distributed import distributed_c10d as c10d  # not at the top: few programs need it

        channels = input.shape[1]
        size = input.numel() // channels
        if size == 1 and world_size < 2:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
        if size > 0:
            mean, invstd = _VF.batch_norm_stats(input, eps)
            count = _VF.full((1,), size, dtype=mean.dtype, device=mean.device)
            combined = _VF.cat([mean, invstd, count])
        else:  # this rank has nothing to say, and takes part all the same
            dtype = _C.float32 if input.dtype in (_C.float16, _C.bfloat16) else input.dtype
            combined = _VF.zeros(2 * channels + 1, dtype=dtype, device=input.device)
        gathered = [_VF.empty_like(combined) for _ in range(world_size)]
        c10d.all_gather(gathered, combined, group=process_group)
        rows = [row for row in gathered if row[-1].item() >= 1]  # without the ranks that have nothing
        if not rows:
            raise ValueError("SyncBatchNorm: expected an input with elements on at least one rank")
        means, invstds, counts = _VF.stack(rows).split([channels, channels, 1], 1)
        counts = counts.reshape(-1)
        mean, invstd = _VF.batch_norm_gather_stats_with_counts(
            input, means, invstds, running_mean, running_var, momentum, eps, counts
        )
        ctx.save_for_backward(input, weight, mean, invstd, counts)
        ctx.process_group = process_group
        return _VF.batch_norm_elemt(input, weight, bias, mean, invstd, eps)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        input, weight, mean, invstd, counts = ctx.saved_tensors
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        sum_dy, sum_dy_xmu, grad_weight, grad_bias = _VF.batch_norm_backward_reduce(
            grad_outputs[0],
            input,
            mean,
            invstd,
            weight,
            needs_input,
            needs_weight and weight is not None,
            needs_bias and weight is not None,
        )
        grad_input = None
        if needs_input:
            from reftorch.distributed import distributed_c10d as c10d

            combined = _VF.cat([sum_dy, sum_dy_xmu])
            c10d.all_reduce(combined, group=ctx.process_group)
            sum_dy, sum_dy_xmu = combined.chunk(2)
            grad_input = _VF.batch_norm_backward_elemt(
                grad_outputs[0], input, mean, invstd, weight, sum_dy, sum_dy_xmu, counts
            )
        return grad_input, grad_weight, grad_bias, None, None, None, None, None, None
