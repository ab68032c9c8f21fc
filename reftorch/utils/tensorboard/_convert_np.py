"""What may be logged, as a numpy array.

Mirrors: torch/utils/tensorboard/_convert_np.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import reftorch as torch

__all__ = ["make_np"]


def make_np(x: Any) -> np.ndarray:
    """Return the numbers of ``x`` as an array on the CPU. numpy has no bfloat16, so such a tensor becomes float16.

    Raises:
        NotImplementedError: ``x`` is neither a number nor an array nor a tensor with numbers.

    Mirrors torch/utils/tensorboard/_convert_np.py, ``make_np``.
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if not isinstance(x, torch.Tensor):
        raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
    if x.device.type == "meta":
        raise NotImplementedError("Got a tensor on the device meta, which has no numbers that could be logged.")
    if x.dtype == torch.bfloat16:
        x = x.to(torch.float16)
    return x.detach().cpu().numpy()
