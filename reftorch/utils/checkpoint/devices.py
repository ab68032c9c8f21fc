"""The states of a device's random numbers and of autocast, which a recomputation repeats.

Mirrors: torch/utils/checkpoint.py
Leaves out: devices other than CUDA's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from reftorch import _C, accelerator, cuda
from reftorch._warnings import warn
from reftorch.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from reftorch.utils._pytree import tree_leaves

__all__ = ["DefaultDeviceType", "get_device_states", "set_device_states"]


class DefaultDeviceType:
    """The type of device whose random numbers a checkpoint repeats if all its tensors are on the CPU.

    Example:
        >>> from reftorch.utils.checkpoint import DefaultDeviceType
        >>> former = DefaultDeviceType.get_device_type()
        >>> DefaultDeviceType.set_device_type("cuda")
        >>> DefaultDeviceType.get_device_type()
        'cuda'
        >>> DefaultDeviceType.set_device_type(former)

    Mirrors torch/utils/checkpoint.py, ``DefaultDeviceType``.
    """

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type.

        Mirrors torch/utils/checkpoint.py, ``DefaultDeviceType.set_device_type``.
        """
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """Return the type: at first that of the accelerator, or ``"cpu"`` if there is none.

        Mirrors torch/utils/checkpoint.py, ``DefaultDeviceType.get_device_type``.
        """
        if not DefaultDeviceType._default_device_type:
            found = accelerator.current_accelerator(True)
            DefaultDeviceType._default_device_type = "cpu" if found is None else found.type
        return DefaultDeviceType._default_device_type


def _infer_device_type(*args: Any) -> str:
    found = [x.device.type for x in tree_leaves(args) if isinstance(x, _C.TensorBase) and x.device.type != "cpu"]
    if len(set(found)) > 1:
        warn(
            "Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. Device state will "
            "only be saved for devices of a single device type, and the remaining devices will be ignored. "
            "Consequently, if any checkpointed functions involve randomness, this may result in incorrect gradients. "
            "(Note that if CUDA devices are among the devices detected, it will be prioritized; otherwise, the first "
            f"device encountered will be selected.)\nDevice types: {sorted(set(found))} first device type: {found[0]}"
        )
    if not found:
        return DefaultDeviceType.get_device_type()
    return "cuda" if "cuda" in found else found[0]


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return the devices of the tensors in ``args``, without the CPU, and the states of their generators.

    Example:
        >>> from reftorch.utils.checkpoint import get_device_states
        >>> get_device_states(torch.ones(2))
        ([], [])

    Mirrors torch/utils/checkpoint.py, ``get_device_states``.
    """
    _infer_device_type(*args)  # for its warning
    tensors = [x for x in tree_leaves(args) if isinstance(x, _C.TensorBase)]
    devices = [x.device.index or 0 for x in tensors if x.device.type not in ("cpu", "meta")]
    return devices, [cuda.get_rng_state(device) for device in devices]


def set_device_states(devices: Iterable[int], states: Iterable[Any], *, device_type: str | None = None) -> None:
    """Set the states of the generators of some devices.

    Args:
        devices: the indices of the devices.
        states: the states that :func:`get_device_states` has returned.
        device_type: ``"cuda"``; without it, the type is that of :class:`DefaultDeviceType`.

    Mirrors torch/utils/checkpoint.py, ``set_device_states``.
    """
    if (device_type or DefaultDeviceType.get_device_type()) == "meta":
        return
    for device, state in zip(devices, states, strict=False):
        cuda.set_rng_state(state, device)


@contextmanager
def _autocast_as(former: list[dict[str, Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        for options in former:
            stack.enter_context(autocast(**options))
        yield


def _autocast_state() -> list[dict[str, Any]]:
    """Return the options with which ``_autocast_as`` repeats the autocast of this thread."""
    cache = is_autocast_cache_enabled()
    return [
        {
            "device_type": kind,
            "enabled": is_autocast_enabled(kind),
            "dtype": get_autocast_dtype(kind),
            "cache_enabled": cache,
        }
        for kind in ("cpu", *(("cuda",) if cuda.is_available() else ()))
    ]
