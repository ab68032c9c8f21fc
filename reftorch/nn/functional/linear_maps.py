"""Linear maps, and rearrangements of channels.

Mirrors: torch/nn/functional.py (linear, bilinear, channel_shuffle, pixel_shuffle, pixel_unshuffle)
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor

__all__ = ["bilinear", "channel_shuffle", "linear", "pixel_shuffle", "pixel_unshuffle"]

# torch has the same functions, so their docstrings are in torch.
bilinear, channel_shuffle = _VF.bilinear, _VF.channel_shuffle
pixel_shuffle, pixel_unshuffle = _VF.pixel_shuffle, _VF.pixel_unshuffle


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Linear map :math:`y = x A^T + b`.

    Args:
        input: :math:`(*, in)`, any number of leading dimensions.
        weight: :math:`(out, in)`, or :math:`(in)`.
        bias: :math:`(out)`, or :math:`()`.

    Returns:
        :math:`(*, out)`, or :math:`(*)`.

    Raises:
        RuntimeError: the inner sizes differ.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
        tensor([[3.5000]])

    Mirrors torch/nn/functional.py, ``linear``.
    """
    return _C._nn.linear(input, weight, bias)
