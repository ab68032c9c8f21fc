"""Signal processing: the windows that a signal is multiplied by before its spectrum is computed.

Mirrors: torch/signal/__init__.py
"""

from reftorch.signal import windows

__all__ = ["windows"]
