"""``Resize``: a Function that changes the shape of a tensor.

Mirrors: torch/autograd/_functions/tensor.py
Leaves out: quantized tensors, and ``Type``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reftorch.autograd.function import Function

__all__ = ["Resize"]


class Resize(Function):
    """Change the shape of a tensor without a copy if the memory allows it, else with a copy.

    Example:
        >>> torch.autograd._functions.Resize.apply(torch.arange(4), (2, 2))
        tensor([[0, 1],
                [2, 3]])

    Mirrors torch/autograd/_functions/tensor.py, ``Resize``.
    """

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Sequence[int]) -> Any:
        """Return ``tensor`` in the shape ``sizes``."""
        if tensor.numel() != math.prod(sizes):
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({math.prod(sizes)} elements in total), but the "
                f"given tensor has a size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements). "
                "autograd's resize can only change the shape of a given tensor, while preserving the number of "
                "elements. "
            )
        ctx.input_sizes = tensor.size()
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Return the gradient in the shape of ``tensor``."""
        return grad_output.contiguous().view(ctx.input_sizes), None
