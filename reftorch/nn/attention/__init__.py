"""The choice among the kernels of ``scaled_dot_product_attention``: small operations, or one that works by tiles.

Mirrors: torch/nn/attention/__init__.py
Leaves out: the fused kernels of GPUs.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from reftorch import _C
from reftorch._api import getattr_of as _getattr_of

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False
__getattr__ = _getattr_of("reftorch.nn.attention", ("flex_attention",))


class SDPBackend(enum.IntEnum):
    """The kernels of PyTorch. ``MATH`` (products and a softmax) and ``FLASH_ATTENTION`` exist here.

    Mirrors torch/nn/attention/__init__.py, ``SDPBackend``.
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Choose the kernels that ``scaled_dot_product_attention`` may use inside.

    Args:
        backends: an :class:`SDPBackend`, or several.
        set_priority: whether their order counts.

    Raises:
        RuntimeError: none of them exists here, or none of them can compute the call; the call raises it.

    Example:
        >>> from reftorch.nn.attention import SDPBackend, sdpa_kernel
        >>> q = torch.ones(1, 1, 2, 4)
        >>> with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        ...     torch.nn.functional.scaled_dot_product_attention(q, q, q.requires_grad_()).grad_fn.name()
        'ScaledDotProductFlashAttentionForCpuBackward0'

    Mirrors torch/nn/attention/__init__.py, ``sdpa_kernel``.
    """
    assert isinstance(backends, (list, SDPBackend)), (
        f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}"
    )
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    before = _C._get_flash_sdp_enabled(), _C._get_math_sdp_enabled()
    try:
        _allow(SDPBackend.FLASH_ATTENTION in chosen, SDPBackend.MATH in chosen)
        yield {}
    finally:
        _allow(*before)


def _allow(flash: bool, math: bool) -> None:
    _C._set_sdp_use_flash(flash)
    _C._set_sdp_use_math(math)
