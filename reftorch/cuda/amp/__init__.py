"""The older names of autocast and of the gradient scaler for CUDA; all warn.

Mirrors: torch/cuda/amp/__init__.py
Leaves out: TorchScript.
"""

from __future__ import annotations

from typing import Any

import reftorch.amp as _amp
from reftorch import _C
from reftorch._warnings import warn
from reftorch.cuda._device import is_available

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]


def amp_definitely_not_available() -> bool:
    """Return whether there is no CUDA device.

    Mirrors torch/cuda/amp/common.py, ``amp_definitely_not_available``.
    """
    return not is_available()


class autocast(_amp.autocast):
    """``torch.amp.autocast("cuda", ...)``, with a FutureWarning.

    Args:
        enabled: whether the mode does anything.
        dtype: the 16-bit dtype.
        cache_enabled: whether the casts of weights are kept.

    Mirrors torch/cuda/amp/autocast_mode.py, ``autocast``.
    """

    def __init__(self, enabled: bool = True, dtype: Any = _C.float16, cache_enabled: bool = True) -> None:
        warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. "
            "Please use `torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
        )
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


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


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Call ``torch.amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)``, with a FutureWarning.

    Mirrors torch/cuda/amp/autocast_mode.py, ``custom_fwd``.
    """
    warn(
        "`torch.cuda.amp.custom_fwd(args...)` is deprecated. "
        "Please use `torch.amp.custom_fwd(args..., device_type='cuda')` instead.",
        FutureWarning,
    )
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Call ``torch.amp.custom_bwd(bwd, device_type="cuda")``, with a FutureWarning.

    Mirrors torch/cuda/amp/autocast_mode.py, ``custom_bwd``.
    """
    warn(
        "`torch.cuda.amp.custom_bwd(args...)` is deprecated. "
        "Please use `torch.amp.custom_bwd(args..., device_type='cuda')` instead.",
        FutureWarning,
    )
    return _amp.custom_bwd(bwd, device_type="cuda")
