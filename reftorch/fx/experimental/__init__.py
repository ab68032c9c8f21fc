"""Passes and tracers whose names may change.

Mirrors: torch/fx/experimental/__init__.py
Leaves out: symbolic shapes, gradual types, partitioning between devices.
"""

from reftorch.fx.experimental import _config, debug, optimization, proxy_tensor

__all__ = ["_config", "debug", "optimization", "proxy_tensor"]
