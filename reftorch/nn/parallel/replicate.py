"""``replicate``: a copy of a module for each device.

Mirrors: torch/nn/parallel/replicate.py
Leaves out: script modules.

Note [Replicas]
Problem: every device needs the module with parameters of its own, the gradients must reach the parameters of the
original, and nothing may be copied that could be shared. Trick: a replica is a new object of the same class whose dict
is copied; its submodules are replaced by their replicas, and its parameters by the outputs of :class:`Broadcast`. These
outputs are not leaves: backward passes through them, and adds up in ``.grad`` of the original's parameters. Therefore
they are plain attributes of the replica, and ``replica.parameters()`` is empty.
Limits: replicas live for one forward, so an attribute that ``forward`` assigns is lost. Only the replica on the first
device shares the memory of the original's parameters and buffers: what it writes in place, such as the running mean of
batch normalization, stays.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeVar

from reftorch.cuda import init
from reftorch.cuda._utils import _get_device_index
from reftorch.nn.modules.module import Module
from reftorch.nn.parallel import comm
from reftorch.nn.parallel._functions import Broadcast

__all__ = ["replicate"]

T = TypeVar("T", bound=Module)


def _broadcast_coalesced_reshape(tensors: Sequence[Any], devices: Sequence[Any], detach: bool) -> list[list[Any]]:
    """Return, for each device, a list of the tensors' copies. Backward passes through them unless ``detach``."""
    if not tensors:
        return []
    if detach:
        return comm.broadcast_coalesced(tensors, devices)
    copies = Broadcast.apply(devices, *tensors)
    return [list(copies[i : i + len(tensors)]) for i in range(0, len(copies), len(tensors))]


def _copies(tensors: Sequence[Any], devices: Sequence[Any], detach: bool) -> list[dict[int, Any]]:
    """Return, for each device, the copies by the id of the original."""
    copies = _broadcast_coalesced_reshape(tensors, devices, detach)
    return [
        {id(t): c for t, c in zip(tensors, of_device, strict=True)} for of_device in copies or [[] for _ in devices]
    ]


def replicate(network: T, devices: Sequence[Any], detach: bool = False) -> list[T]:
    """Return a copy of a module for each device. See Note [Replicas].

    Args:
        network: the module. Its parameters and buffers are on the first of the devices.
        devices: the CUDA devices, or their numbers.
        detach: whether the copies of the parameters are constants.

    Raises:
        AssertionError: a parameter is on the CPU.
        RuntimeError: a parameter or buffer is not on the first of the devices.

    Mirrors torch/nn/parallel/replicate.py, ``replicate``.
    """
    if not devices:
        return []
    init()
    indices = [_get_device_index(d, True) for d in devices]
    parameters = _copies(list(network.parameters()), indices, detach)
    buffers = list(network.buffers())
    trained = [b for b in buffers if b.requires_grad and not detach]
    constant = [b for b in buffers if not b.requires_grad or detach]
    copies_of_buffers = [
        a | b for a, b in zip(_copies(trained, indices, detach), _copies(constant, indices, True), strict=True)
    ]
    modules = list(network.modules())
    return [_replica(modules, *copies) for copies in zip(parameters, copies_of_buffers, strict=True)]


def _replica(modules: Sequence[Any], parameters: dict[int, Any], buffers: dict[int, Any]) -> Any:
    """Return the replica of the first module. All tensors and modules are replaced by their copies, known by id."""
    replicas = {id(module): module._replicate_for_data_parallel() for module in modules}
    for module in modules:
        replica = replicas[id(module)]
        # DistributedDataParallel and functions that need the parameters of a replica look here.
        replica._former_parameters = OrderedDict()
        for name, child in module._modules.items():
            if child is None:
                replica._modules[name] = None
            else:
                setattr(replica, name, replicas[id(child)])
        for name, parameter in module._parameters.items():
            if parameter is None:
                replica._parameters[name] = None
            else:
                copy = parameters[id(parameter)]
                setattr(replica, name, copy)  # a plain attribute, because the copy is not a Parameter
                replica._former_parameters[name] = copy
        for name, buffer in module._buffers.items():
            if buffer is None:
                replica._buffers[name] = None
            else:
                setattr(replica, name, buffers[id(buffer)])
    return replicas[id(modules[0])]
