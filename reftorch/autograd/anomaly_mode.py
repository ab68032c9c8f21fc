"""Finding the forward call that causes an error in the backward pass.

Mirrors: torch/autograd/anomaly_mode.py
"""

from __future__ import annotations

from reftorch import _C
from reftorch._warnings import warn

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """Record the stack of each op's call, and stop a backward pass at the first NaN.

    When a node fails, a warning shows the stack of the forward call that made it; a gradient with a NaN counts as a
    failure, and the error names the node. The mode holds for all threads. A program becomes many times slower, so use
    the mode for debugging only.

    Args:
        check_nan: search the gradients that each node computes for NaN.

    Raises:
        RuntimeError: (from ``backward``) a node returned a NaN.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> x = torch.zeros(1, requires_grad=True)
        >>> with torch.autograd.detect_anomaly():
        ...     (x.sqrt() * 0).sum().backward()
        Traceback (most recent call last):
            ...
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.

    Mirrors torch/autograd/anomaly_mode.py, ``detect_anomaly``.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
        )

    def __enter__(self) -> None:
        _C.set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *exc_info: object) -> None:
        _C.set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Turn anomaly detection on or off: immediately, as a call, or until the end of a ``with`` block.

    Args:
        mode: True turns the detection on.
        check_nan: search the gradients that each node computes for NaN.

    Example:
        >>> with torch.autograd.set_detect_anomaly(True):
        ...     torch.is_anomaly_enabled()
        True
        >>> torch.is_anomaly_enabled()
        False

    Mirrors torch/autograd/anomaly_mode.py, ``set_detect_anomaly``.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        _C.set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        _C.set_anomaly_enabled(self.prev, self.prev_check_nan)
