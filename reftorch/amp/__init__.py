"""Mixed precision: some ops of a model in a 16-bit dtype, and losses that are scaled so that gradients do not vanish.

Mirrors: torch/amp/__init__.py
Leaves out: every device but the CPU and CUDA devices.
"""

from reftorch.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from reftorch.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
