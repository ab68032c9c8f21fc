"""Memory formats of the weights of convolutions.

Mirrors: torch/nn/utils/memory_format.py
Leaves out: ``channels_last_3d``, a format that does not exist here yet.
"""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound=Any)


def _convert(module: Any, memory_format: Any, ndim: int) -> None:
    for layer in module.modules():
        # Convolutions, transposed ones included, are the layers that say whether they are transposed.
        if hasattr(layer, "transposed") and layer.weight.dim() == ndim:
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)


def convert_conv2d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Give the weights of all two-dimensional convolutions in a module a memory format, in place.

    If the weights are in ``channels_last``, the results of the convolutions are so too, whatever the inputs are.

    Args:
        module: the module; its submodules are converted too.
        memory_format: such as ``torch.channels_last``.

    Returns:
        The module.

    Mirrors torch/nn/utils/memory_format.py, ``convert_conv2d_weight_memory_format``.
    """
    _convert(module, memory_format, 4)
    return module


def convert_conv3d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Give the weights of all three-dimensional convolutions in a module a memory format, in place.

    Args:
        module: the module; its submodules are converted too.
        memory_format: the format; ``torch.channels_last_3d`` does not exist here yet.

    Returns:
        The module.

    Mirrors torch/nn/utils/memory_format.py, ``convert_conv3d_weight_memory_format``.
    """
    _convert(module, memory_format, 5)
    return module
