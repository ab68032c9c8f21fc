"""Which backends there are, and how their names are read.

Mirrors: torch/distributed/distributed_c10d.py (``Backend``, ``BackendConfig``, the questions after backends)
Leaves out: UCC and XCCL, which are not built in.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from reftorch import _C
from reftorch._C import _distributed_c10d
from reftorch._C import device as torch_device
from reftorch._C._distributed_c10d import ReduceOp

__all__ = [
    "Backend",
    "BackendConfig",
    "get_default_backend_for_device",
    "is_backend_available",
    "is_gloo_available",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "supports_complex",
]


class _Plugin(NamedTuple):
    """What makes the groups of a backend that a program has registered."""

    creator: Callable[..., Any]
    extended_api: bool


class Backend(str):
    """The name of a backend, in lower case.

    Example:
        >>> from reftorch.distributed import Backend
        >>> Backend("GLOO")
        'gloo'
        >>> Backend.GLOO
        'gloo'

    Mirrors torch/distributed/distributed_c10d.py, ``Backend``.
    """

    __slots__ = ()

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL}
    backend_capability: dict[str, list[str]] = {
        GLOO: ["cpu", "cuda"],
        NCCL: ["cuda"],
        UCC: ["cpu", "cuda"],
        MPI: ["cpu"],
    }
    _plugins: dict[str, _Plugin] = {}

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())

    @classmethod
    def register_backend(
        cls,
        name: str,
        func: Callable[..., Any],
        extended_api: bool = False,
        devices: str | list[str] | None = None,
    ) -> None:
        """Let ``func`` make the groups of a backend called ``name``.

        Args:
            name: a new name.
            func: is called with a store, the rank, the world size and the timeout, and returns a
                :class:`ProcessGroup`. With ``extended_api`` the arguments are the options of the backend and those of
                the group.
            extended_api: see ``func``.
            devices: the types of device whose tensors the backend takes.

        Raises:
            AssertionError: the name is taken.
        """
        attribute = name.upper()
        assert not hasattr(Backend, attribute), f"{name} c10d backend already exist"
        setattr(Backend, attribute, name.lower())
        Backend.backend_list.append(name.lower())
        types = [devices] if isinstance(devices, str) else list(devices or ["cpu", "cuda"])
        Backend.backend_capability[name.lower()] = types
        Backend._plugins[attribute] = _Plugin(func, extended_api)


class BackendConfig:
    """The backend of each type of device: ``"gloo"``, or ``"cpu:gloo,cuda:nccl"``.

    ``"undefined"`` stands for the backend of the accelerator, or for that of the CPU where there is no accelerator.

    Raises:
        ValueError: the text is not of this form.

    Example:
        >>> from reftorch.distributed import Backend, BackendConfig
        >>> BackendConfig(Backend("cpu:gloo")).get_device_backend_map()
        {'cpu': 'gloo'}

    Mirrors torch/distributed/distributed_c10d.py, ``BackendConfig``.
    """

    def __init__(self, backend: str) -> None:
        self.device_backend_map: dict[str, Backend] = {}
        if backend == Backend.UNDEFINED:
            device = _C._accelerator_getAccelerator()
            kind = "cpu" if device is None else device.type
            self.device_backend_map = {kind: Backend(Backend.default_device_backend_map[kind])}
        elif ":" not in backend:
            devices = Backend.backend_capability.get(backend.lower(), ["cpu"])
            self.device_backend_map = {device: Backend(backend) for device in devices}
        else:
            for pair in backend.lower().split(","):
                parts = pair.split(":")
                if len(parts) != 2:
                    raise ValueError(
                        f"The custom backend string argument is invalid: {backend}. Hint: the form is "
                        '"<device_type1>:<backend1>,<device_type2>:<backend2>", as in "cpu:gloo,cuda:nccl"'
                    )
                if parts[0] in self.device_backend_map:
                    raise ValueError(f"Duplicate device type {parts[0]} in backend string: {backend}")
                self.device_backend_map[parts[0]] = Backend(parts[1])

    def __repr__(self) -> str:
        return ",".join(f"{device}:{backend}" for device, backend in self.device_backend_map.items())

    def get_device_backend_map(self) -> dict[str, Backend]:
        """Return the backend of each type of device."""
        return self.device_backend_map


def is_gloo_available() -> bool:
    """Return True: collectives on CPU tensors over TCP are built in.

    Mirrors torch/distributed/distributed_c10d.py, ``is_gloo_available``.
    """
    return True


def is_nccl_available() -> bool:
    """Return whether there are CUDA devices and a NCCL for them: NVIDIA's for GPUs, or that of the simulator.

    Mirrors torch/distributed/distributed_c10d.py, ``is_nccl_available``.
    """
    return hasattr(_distributed_c10d, "ProcessGroupNCCL") and _C._cuda_getDeviceCount() > 0


def is_mpi_available() -> bool:
    """Return whether the package mpi4py is installed, which calls an MPI library.

    Mirrors torch/distributed/distributed_c10d.py, ``is_mpi_available``.
    """
    return importlib.util.find_spec("mpi4py") is not None


def is_ucc_available() -> bool:
    """Return False: UCC is not built in.

    Mirrors torch/distributed/distributed_c10d.py, ``is_ucc_available``.
    """
    return False


def is_xccl_available() -> bool:
    """Return False: Intel's library for GPUs is not built in.

    Mirrors torch/distributed/distributed_c10d.py, ``is_xccl_available``.
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Return whether groups of a backend can be made: ``"gloo"``, a registered name, or ``"cpu:gloo,cuda:nccl"``.

    Mirrors torch/distributed/distributed_c10d.py, ``is_backend_available``.
    """
    if ":" in backend:
        return all(is_backend_available(name) for name in BackendConfig(backend).get_device_backend_map().values())
    kind = backend.lower()
    if kind == Backend.NCCL:
        return is_nccl_available()
    if kind == Backend.MPI:
        return is_mpi_available()
    return kind == Backend.GLOO or backend.upper() in Backend._plugins


def is_torchelastic_launched() -> bool:
    """Return whether a launcher such as ``python -m reftorch.distributed.run`` started this process.

    Mirrors torch/distributed/distributed_c10d.py, ``is_torchelastic_launched``.
    """
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def get_default_backend_for_device(device: str | torch_device) -> str:
    """Return the name of the backend for tensors on ``device``.

    Raises:
        ValueError: there is none.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.get_default_backend_for_device("cpu")
        'gloo'

    Mirrors torch/distributed/distributed_c10d.py, ``get_default_backend_for_device``.
    """
    backend = Backend.default_device_backend_map.get(torch_device(str(device)).type)
    if backend is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return backend


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Return whether complex numbers can be reduced by ``reduceOp``; minima and bits of them have no meaning.

    Mirrors torch/distributed/distributed_c10d.py, ``supports_complex``.
    """
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)
