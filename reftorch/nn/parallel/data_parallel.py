"""``DataParallel``: one process, several devices, and a part of each batch for each device.

Mirrors: torch/nn/parallel/data_parallel.py
Leaves out: accelerators other than CUDA.

Note [Data parallelism in one process]
A step with :math:`n` devices: ``scatter`` splits the batch into :math:`n` parts, ``replicate`` copies the parameters to
:math:`n` devices, ``parallel_apply`` runs the replicas at once, and ``gather`` joins the results on one device, where
the program computes the loss. All four are ops of the graph, so backward runs the same way in reverse and leaves the
sum of the replicas' gradients in the parameters of the original module. Limits: parameters are copied in each forward,
the first device also holds all results, and the replicas' Python code shares one lock. Therefore PyTorch recommends one
process for each device, with :class:`DistributedDataParallel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from reftorch import cuda
from reftorch._C import device as _device
from reftorch._C import is_grad_enabled
from reftorch._warnings import warn
from reftorch.autograd.profiler import record_function
from reftorch.cuda._utils import _get_device_index
from reftorch.nn.modules.module import Module
from reftorch.nn.parallel.parallel_apply import parallel_apply
from reftorch.nn.parallel.replicate import replicate
from reftorch.nn.parallel.scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


def _check_balance(device_ids: Sequence[int]) -> None:
    """Warn if a device has less than three quarters of the memory or of the processors of another one."""
    properties = [cuda.get_device_properties(i) for i in device_ids]
    for name in ("total_memory", "multi_processor_count"):
        values = [getattr(p, name) for p in properties]
        if min(values) < 0.75 * max(values):
            weakest, strongest = (device_ids[values.index(pick(values))] for pick in (min, max))
            warn(
                f"There is an imbalance between your GPUs. You may want to exclude GPU {weakest} which has less than "
                f"75% of the memory or cores of GPU {strongest}. You can do so by setting the device_ids argument to "
                "DataParallel, or by setting the CUDA_VISIBLE_DEVICES environment variable."
            )
            return


def _check_place(module: Module, place: Any) -> None:
    """Raise an error unless all parameters and buffers of a module are on a device."""
    for t in chain(module.parameters(), module.buffers()):
        if t.device != place:
            raise RuntimeError(
                f"module must have its parameters and buffers on device {place} (device_ids[0]) but found one of them "
                f"on device: {t.device}"
            )


class DataParallel(Module):
    """Split each batch among CUDA devices. See Note [Data parallelism in one process].

    The parameters get the prefix ``module.`` in their names. Without a CUDA device, the module is called as it is.

    Args:
        module: the module. Its parameters are on the first of the devices when it is called.
        device_ids: the CUDA devices, or their numbers; all if None.
        output_device: the device of the results; the first one if None.
        dim: the dimension of the batch.

    Attributes:
        module: the module.

    Raises:
        RuntimeError: (from a call) a parameter or buffer is not on the first of the devices.
        Exception: (from a call) an exception of the module, with the number and device of the replica in its message.

    Example:
        >>> [name for name, _ in torch.nn.DataParallel(torch.nn.Linear(2, 1)).named_parameters()]
        ['module.weight', 'module.bias']

    Mirrors torch/nn/parallel/data_parallel.py, ``DataParallel``.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[int] = []
        if not cuda.is_available():
            return
        cuda.init()
        given = list(range(cuda.device_count())) if device_ids is None else list(device_ids)
        self.device_ids = [_get_device_index(d, True) for d in given]
        self.output_device = _get_device_index(self.device_ids[0] if output_device is None else output_device, True)
        self.src_device_obj = _device("cuda", self.device_ids[0])
        _check_balance(self.device_ids)
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the module for the parts of a batch and return the joined results."""
        with record_function("DataParallel.forward"):
            if not self.device_ids:
                return self.module(*inputs, **kwargs)
            _check_place(self.module, self.src_device_obj)
            scattered, module_kwargs = self.scatter(inputs, kwargs, self.device_ids)
            if not scattered:  # a module without arguments runs once
                scattered, module_kwargs = ((),), ({},)
            if len(self.device_ids) == 1:
                return self.module(*scattered[0], **module_kwargs[0])
            replicas = self.replicate(self.module, self.device_ids[: len(scattered)])
            return self.gather(self.parallel_apply(replicas, scattered, module_kwargs), self.output_device)

    def replicate(self, module: Module, device_ids: Sequence[int]) -> list[Any]:
        """Return a copy of ``module`` for each device; a subclass may override this step."""
        return replicate(module, device_ids, not is_grad_enabled())

    def scatter(self, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, device_ids: Sequence[int]) -> Any:
        """Split the arguments among the devices; a subclass may override this step."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas: Sequence[Module], inputs: Sequence[Any], kwargs: Any) -> list[Any]:
        """Call the replicas; a subclass may override this step."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """Join the results; a subclass may override this step."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module on a batch that is split among CUDA devices: the function behind :class:`DataParallel`.

    Args:
        module: the module, with its parameters on the first of the devices.
        inputs: the argument of the module, or a tuple of several.
        device_ids, output_device, dim: as for :class:`DataParallel`.
        module_kwargs: the arguments by name.

    Raises:
        RuntimeError: there is no CUDA device, or a parameter or buffer is not on the first of the devices.

    Example:
        >>> torch.nn.parallel.data_parallel(torch.nn.Linear(2, 1), torch.ones(1, 2))
        Traceback (most recent call last):
        RuntimeError: device type could not be determined

    Mirrors torch/nn/parallel/data_parallel.py, ``data_parallel``.
    """
    if not cuda.is_available():
        raise RuntimeError("device type could not be determined")
    cuda.init()
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    devices = range(cuda.device_count()) if device_ids is None else device_ids
    indices = [_get_device_index(d, True) for d in devices]
    target = _get_device_index(indices[0] if output_device is None else output_device, True)
    _check_place(module, _device("cuda", indices[0]))
    scattered, kwargs = scatter_kwargs(inputs, module_kwargs, indices, dim)
    if not scattered:
        scattered, kwargs = ((),), ({},)
    if len(indices) == 1:
        return module(*scattered[0], **kwargs[0])
    used = indices[: len(scattered)]
    outputs = parallel_apply(replicate(module, used), scattered, kwargs, used)
    return gather(outputs, target, dim)
