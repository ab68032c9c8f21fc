"""The older names of autocast and of the gradient scaler for CUDA; all warn.

Mirrors: torch/cuda/amp/__init__.py
Leaves out: TorchScript.
"""

from reftorch.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from reftorch.cuda.amp.common import amp_definitely_not_available
from reftorch.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
