"""The older name of the gradient scaler for CUDA; it warns.

Mirrors: torch/cuda/amp/grad_scaler.py
"""

from __future__ import annotations

import reftorch.amp as _amp
from reftorch._warnings import warn

__all__ = ["GradScaler"]


class GradScaler(_amp.GradScaler):
    """``torch.amp.GradScaler("cuda", ...)``, with a FutureWarning.

    Args:
        init_scale: the first factor.
        growth_factor: the factor of the scale after steps without overflow.
        backoff_factor: the factor of the scale after an overflow.
        growth_interval: the number of steps without overflow after which the scale grows.
        enabled: whether the scaler does anything.

    Mirrors torch/cuda/amp/grad_scaler.py, ``GradScaler``.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn(
            "`torch.cuda.amp.GradScaler(args...)` is deprecated. "
            "Please use `torch.amp.GradScaler('cuda', args...)` instead.",
            FutureWarning,
        )
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
