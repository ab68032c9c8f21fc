"""Functions of modules that PyTorch writes in Python, with a backward pass of their own.

Mirrors: torch/nn/modules/_functions.py
Leaves out: SyncBatchNorm, which needs several processes; BackwardHookFunction.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.function import Function

__all__ = ["CrossMapLRN2d"]


def _forward_windows(channels: int, size: int) -> list[list[float]]:
    """Row c says which squares the sum of channel c has.

    The sum of a channel is that of the channel before, plus a square that comes in, minus a square that goes out. As in
    PyTorch, the first square never goes out.
    """
    reach = int((size - 1) / 2 + 1)
    row = [1.0 if j < min(reach, channels) else 0.0 for j in range(channels)]
    rows = [row]
    for c in range(1, channels):
        row = list(row)
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
