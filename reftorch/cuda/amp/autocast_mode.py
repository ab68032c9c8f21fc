"""The older names of autocast for CUDA; all warn.

Mirrors: torch/cuda/amp/autocast_mode.py
"""

from __future__ import annotations

from typing import Any

import reftorch.amp as _amp
from reftorch import _C
from reftorch._warnings import warn

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


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
