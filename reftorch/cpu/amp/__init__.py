"""The older names of autocast and of the gradient scaler for the CPU; both warn.

Mirrors: torch/cpu/amp/__init__.py
Leaves out: TorchScript.
"""

from __future__ import annotations

from typing import Any

import reftorch.amp as _amp
from reftorch import _C
from reftorch._warnings import warn

__all__ = ["GradScaler", "autocast"]


class autocast(_amp.autocast):
    """``torch.amp.autocast("cpu", ...)``, with a FutureWarning.

    Args:
        enabled: whether the mode does anything.
        dtype: the 16-bit dtype.
        cache_enabled: whether the casts of weights are kept.

    Mirrors torch/cpu/amp/autocast_mode.py, ``autocast``.
    """

    def __init__(self, enabled: bool = True, dtype: Any = _C.bfloat16, cache_enabled: bool = True) -> None:
        warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """``torch.amp.GradScaler("cpu", ...)``, with a FutureWarning.

    Args:
        init_scale: the first factor.
        growth_factor: the factor of the scale after steps without overflow.
        backoff_factor: the factor of the scale after an overflow.
        growth_interval: the number of steps without overflow after which the scale grows.
        enabled: whether the scaler does anything.

    Mirrors torch/cpu/amp/grad_scaler.py, ``GradScaler``.
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
            "`torch.cpu.amp.GradScaler(args...)` is deprecated. "
            "Please use `torch.amp.GradScaler('cpu', args...)` instead.",
            FutureWarning,
        )
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
