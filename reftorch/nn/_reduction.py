"""The reduction of a loss: from the losses of the elements to the result.

Mirrors: torch/nn/_reduction.py
Leaves out: the deprecated reduction ``"elementwise_mean"``.
"""

from __future__ import annotations

from reftorch._warnings import warn

__all__ = ["get_enum", "legacy_get_string"]

_CODES = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """Return the number that the loss ops use for a reduction (at::Reduction)."""
    if reduction not in _CODES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _CODES[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that the two deprecated flags mean, and warn about them."""
    if reduce is False:
        reduction = "none"
    else:
        reduction = "sum" if size_average is False else "mean"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction
