"""``DistributedDataParallel``: one model in several processes, with the average of all gradients.

Mirrors: torch/nn/parallel/distributed.py
Leaves out: remote references, compiled reducers, meshes whose other dimensions split tensors.

The file is more than 500 lines long, because it mirrors one file of PyTorch. Two parts of PyTorch's file that few
programs use are beside it: ``_mixed_precision.py`` and ``_delayed_averages.py``.

Note [Data parallelism in several processes]
Every rank holds the whole model and feeds it with its own part of the batch. If all ranks start with equal parameters
and always add equal gradients, their models stay equal, and nothing but gradients has to travel. So the constructor
sends the parameters and buffers of rank 0 to all ranks, and the Reducer replaces the gradients by their average, inside
``backward()``. The average of the ranks' mean losses is the mean over the whole batch if all parts have one size.
Buffers, such as the statistics of batch normalization, have no gradients; the forward of each pass sends those of rank
0.

Note [The sink]
Problem: if the loss does not use all outputs of the module, parts of the graph never run, and the hooks of their
parameters are not called. Trick: with ``find_unused_parameters``, all outputs pass through one Function. Its backward
hands on one gradient or None for each output, and a node that receives None runs, too: all parameters that led to any
output call their hooks. With ``static_graph`` the backward of the sink also asks the engine to end the first pass.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, auto
from inspect import Parameter as Argument
from inspect import signature
from itertools import chain
from typing import Any, NamedTuple, NoReturn

from reftorch import _C, _VF
from reftorch._C import is_grad_enabled
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd import Function, Variable
from reftorch.autograd.grad_mode import _unsafe_preserve_version_counter, no_grad
from reftorch.autograd.profiler import record_function
from reftorch.cuda._utils import _get_device_index
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import BuiltinCommHookType, GradBucket
from reftorch.distributed._logger import Logger
from reftorch.distributed._reducer import (
    _DEFAULT_FIRST_BUCKET_BYTES,
    Reducer,
    _broadcast_coalesced,
    _compute_bucket_assignment_by_size,
    _verify_params_across_processes,
)
from reftorch.distributed.algorithms.ddp_comm_hooks import default_hooks
from reftorch.distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks import (
    _AllreduceUpcastHookState,
    _reducer_allreduce_and_upcast_hook,
)
from reftorch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks import _apply_optim_in_backward_hook
from reftorch.distributed.algorithms.join import Join, Joinable, JoinHook
from reftorch.distributed.utils import _cast_forward_inputs, _recursive_to, _sync_module_states
from reftorch.futures import Future
from reftorch.nn.modules.batchnorm import SyncBatchNorm
from reftorch.nn.modules.module import Module
from reftorch.nn.parallel._delayed_averages import _DelayedAverages
from reftorch.nn.parallel._mixed_precision import _cast_buffers, _MixedPrecision, _ParameterCopies
from reftorch.nn.parallel.scatter_gather import gather, scatter_kwargs
from reftorch.nn.parameter import UninitializedParameter
from reftorch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["DistributedDataParallel"]

_MB = 1024 * 1024
_DEFAULT_BUCKET_CAP_MB = 25
_NO_LIMIT = 2**62


class _BucketCapacityConfig(NamedTuple):
    """Bytes of buckets. Mirrors ``_BucketCapacityConfig`` of PyTorch's file.

    The first bucket of the default sizes is small, so that the first transfer of a pass begins early.
    """

    bucket_bytes_cap: int
    per_bucket_bytes_caps: tuple[int, ...]
    first_bucket_bytes_cap: int

    @classmethod
    def create(cls, bucket_cap_mb: float | None, bucket_cap_mb_list: Sequence[float] | None) -> _BucketCapacityConfig:
        """Return the sizes for the arguments of DistributedDataParallel."""
        if bucket_cap_mb_list:
            caps = tuple(int(mb * _MB) for mb in bucket_cap_mb_list)
            return cls(max(caps), caps, max(caps))
        if bucket_cap_mb is None:
            return cls(_DEFAULT_BUCKET_CAP_MB * _MB, (), _DEFAULT_FIRST_BUCKET_BYTES)
        return cls(int(bucket_cap_mb * _MB), (), int(bucket_cap_mb * _MB))

    def compute_bucket_size_limits(self, static_graph: bool, find_unused_parameters: bool) -> list[int]:
        """Return the limits of the first buckets: none, if buckets are built again after the first pass."""
        if self.per_bucket_bytes_caps:
            return list(self.per_bucket_bytes_caps)
        if static_graph or not find_unused_parameters:
            return [_NO_LIMIT]
        return [self.first_bucket_bytes_cap, self.bucket_bytes_cap]


class _BufferCommHookLocation(Enum):
    """When a function for buffers runs: before or after the module. Mirrors the class of PyTorch's file."""

    PRE_FORWARD = auto()
    POST_FORWARD = auto()


@dataclass
class _BufferCommHook:
    """A function that makes the buffers of all ranks equal, in place of those of rank 0."""

    buffer_comm_hook: Callable[[Any, dict[str, Tensor]], Any]
    buffer_comm_hook_state: Any
    buffer_comm_hook_location: _BufferCommHookLocation


def _find_tensors(obj: Any) -> Iterator[Tensor]:
    """Yield the tensors in a structure of tuples, lists, dicts and dataclasses."""
    if isinstance(obj, Tensor):
        yield obj
    elif isinstance(obj, (list, tuple)):
        yield from chain.from_iterable(map(_find_tensors, obj))
    elif isinstance(obj, dict):
        yield from chain.from_iterable(map(_find_tensors, obj.values()))
    elif is_dataclass(obj):
        yield from chain.from_iterable(_find_tensors(getattr(obj, f.name)) for f in fields(obj))


def _is_annotated_as(annotation: Any, *expected: Any) -> bool:
    """Return whether an annotation is one of those that are expected, or none, or a text that nobody has evaluated."""
    return isinstance(annotation, str) or annotation in (Argument.empty, Any, *expected)


class _DDPSink(Function):
    """The function that all outputs pass through. See Note [The sink].

    Mirrors torch/nn/parallel/distributed.py, ``_DDPSink``.
    """

    @staticmethod
    def forward(ctx: Any, ddp_weakref: Any, *inputs: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.ddp_weakref = ddp_weakref
        if not ddp_weakref()._ddp_sink_clone:
            return inputs
        return tuple(each.clone() if isinstance(each, Tensor) else each for each in inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        ddp = ctx.ddp_weakref()
        reducer = ddp.reducer
        if ddp.static_graph and not ddp._static_graph_delay_allreduce_enqueued and reducer.expect_autograd_hooks:
            Variable._execution_engine.queue_callback(reducer._delay_all_reduce)
            ddp._static_graph_delay_allreduce_enqueued = True
        return (None, *grad_outputs)


class _DDPJoinHook(JoinHook):
    """The collectives of one pass, for a rank without input. Mirrors ``_DDPJoinHook`` of PyTorch's file."""

    def __init__(self, ddp: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        self.ddp = ddp
        ddp.logger._set_uneven_input_join()
        ddp._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self) -> None:
        ddp, reducer = self.ddp, self.ddp.reducer
        reducer._rebuild_buckets()
        if ddp.will_sync_module_buffers():
            ddp._sync_module_buffers(ddp._find_common_rank(False))
        ddp.require_forward_param_sync = ddp._some_rank_syncs(False)
        if not ddp.require_forward_param_sync:
            return
        works = [reducer._run_comm_hook(bucket) for bucket in reducer._get_zeros_like_grad_buckets()]
        for work in works:
            work.wait()
        if ddp.find_unused_parameters:
            reducer._all_reduce_local_used_map()[0].wait()
        reducer._push_all_rebuilt_params()

    def post_hook(self, is_last_joiner: bool) -> None:
        ddp = self.ddp
        ddp._authoritative_rank = ddp._find_common_rank(is_last_joiner)
        ddp._broadcast_module(ddp._authoritative_rank, ddp.forward_sync_buffers)


class DistributedDataParallel(Module, Joinable):
    """Train one model in several processes. See Note [Data parallelism in several processes].

    ``backward()`` leaves the average of all ranks' gradients in ``.grad``. The parameters get the prefix ``module.`` in
    their names. Every rank must construct the module, and run each forward and backward, equally often; :meth:`join` is
    for inputs that are not equally many.

    Args:
        module: the module, on the CPU or on one device.
        device_ids: the CUDA device of the module, as a list of one; inputs are copied to this device. None leaves
            inputs where they are.
        output_device: the device that PyTorch's older versions copied outputs to; only kept.
        dim: the dimension of the batch, for :meth:`scatter` and :meth:`gather`.
        broadcast_buffers: the old name of ``forward_sync_buffers``. False also leaves the buffers different at the
            start.
        init_sync: whether the constructor compares the shapes of parameters, and sends parameters and buffers of rank
            0.
        process_group: the ranks that train together; the default group if None.
        device_mesh: the ranks that train together, as a mesh of one dimension, in place of ``process_group``.
        bucket_cap_mb: MiB of a bucket (25, with a first bucket of 1). See Note [Buckets].
        find_unused_parameters: whether each pass looks for parameters that the outputs do not depend on. See Note
            [Unused parameters].
        check_reduction: has no effect.
        gradient_as_bucket_view: whether ``.grad`` shares memory with the buckets, which saves a copy of all gradients.
        static_graph: whether all passes use the same parameters equally often. See Note [Static graph].
        bucket_cap_mb_list: MiB of each bucket.
        batched_grad_copy: whether the gradients of a bucket are copied when the last one has arrived.
        forward_sync_buffers: whether each forward sends the buffers of rank 0 (True if None).
        skip_all_reduce_unused_params: whether a bucket of nothing but unused parameters is not reduced. All ranks must
            have the same unused parameters, in each pass.
        delay_all_reduce_named_params: names and parameters whose gradients are averaged all at once, in one flat
            buffer, when the gradient of another parameter is ready. No other argument holds for these parameters, and
            :meth:`no_sync` does not either. If no other parameter is trained, buffers travel at the start only.
        param_to_hook_all_reduce: this other parameter, of the same module or not. Backward must reach the parameter
            after all of those, so it belongs to an earlier layer.
        mixed_precision: dtypes for the parameters while the module runs, for sums over the ranks and for buffers, as a
            ``_MixedPrecision`` of this file. See Note [Mixed precision].

    Attributes:
        module: the module.
        logger: what the module knows about its settings and passes, see :class:`reftorch.distributed.Logger`.

    Raises:
        RuntimeError: no parameter requires a gradient, a parameter is not initialized, the ranks have different
            parameters, both a group and a mesh are given, the mesh has more than one dimension, or (from a call) the
            last backward has not reduced all gradients: the message names the parameters.
        ValueError: the devices do not fit the module, there is no process group, or the arguments for delayed
            parameters do not fit each other.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
        >>> model(torch.ones(3, 2)).mean().backward()
        >>> model.module.weight.grad
        tensor([[1., 1.]])
        >>> dist.destroy_process_group()

    Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel``.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Sequence[tuple[str, Any]] | None = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: _MixedPrecision | None = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[Any] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        self._take_ranks(process_group, device_mesh)
        self.module = module
        self.dim = dim
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.mixed_precision = mixed_precision
        self._delayed = _DelayedAverages(delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision)
        self.parameters_to_ignore |= self._delayed.named.keys()
        self._module_parameters = [p for n, p in module.named_parameters() if n not in self.parameters_to_ignore]
        self._check_parameters()
        self._take_devices(device_ids, output_device)
        self.static_graph = False
        self._take_buffer_options(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.batched_grad_copy = batched_grad_copy
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.broadcast_bucket_size = 250 * _MB
        if check_reduction:
            warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
            )
        self.skip_all_reduce_unused_params = skip_all_reduce_unused_params
        self._bucket_config = _BucketCapacityConfig.create(bucket_cap_mb, bucket_cap_mb_list)
        self.bucket_bytes_cap = self._bucket_config.bucket_bytes_cap
        self.bucket_bytes_cap_list = list(self._bucket_config.per_bucket_bytes_caps)
        self.buffer_hook: _BufferCommHook | None = None
        self._ddp_sink_clone = True
        self._divide_by_initial_world_size = True
        self._comm_hooks: list[tuple[Callable[..., Any], Any]] = []
        self._lazy_init_ran = False
        self._assign_modules_buffers()
        if init_sync:
            named = {**self._named_trained_parameters(), **self._delayed.named}
            _verify_params_across_processes(self.process_group, named)
            self._broadcast_module(0, self._init_sync_buffers)
        if self._delayed.named:
            self._delayed.start(self, init_sync)
        self._delay_all_reduce_all_params = not self._named_trained_parameters()
        if self._delay_all_reduce_all_params:
            return  # there is nothing that a Reducer could reduce
        self._ddp_init_helper(static_graph)
        if mixed_precision is not None:
            _cast_buffers(self.modules_buffers, mixed_precision.buffer_dtype)

    def _take_ranks(self, process_group: Any, device_mesh: Any) -> None:
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is not None:
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            self.device_mesh = device_mesh
            process_group = device_mesh.get_group(0)
        self.process_group = c10d._get_default_group() if process_group is None else process_group

    def _check_parameters(self) -> None:
        if not any(p.requires_grad for p in [*self._module_parameters, *self._delayed.parameters]):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        if any(isinstance(p, UninitializedParameter) for p in self._module_parameters):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                "forward pass to correctly initialize the modules"
            )

    def _take_devices(self, device_ids: Sequence[Any] | None, output_device: Any) -> None:
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        parameters = self._module_parameters or self._delayed.parameters
        devices = {p.device for p in parameters}
        types = {d.type for d in devices}
        if len(types) != 1:
            raise ValueError(
                "DistributedDataParallel's input module must be on the same type of devices, but input module "
                f"parameters locate in {types}."
            )
        self.device_type = next(iter(types))
        self.device = parameters[0].device
        self.is_multi_device_module = len(devices) > 1
        self.device_ids: list[int] | None = None
        self.output_device: int | None = None
        if not device_ids or self.device_type == "cpu" or self.is_multi_device_module:
            if device_ids or output_device:
                raise ValueError(
                    "DistributedDataParallel device_ids and output_device arguments only work with "
                    "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                    f"{device_ids}, output_device {output_device}, and module parameters {devices}."
                )
        else:
            self.device_ids = [_get_device_index(d, True) for d in device_ids]
            self.output_device = _get_device_index(device_ids[0] if output_device is None else output_device, True)

    def _take_buffer_options(self, broadcast_buffers: bool | None, forward_sync_buffers: bool | None) -> None:
        """Set whether buffers are sent, at the start and in each forward."""
        self._init_sync_buffers = True
        self.forward_sync_buffers = True if forward_sync_buffers is None else forward_sync_buffers
        if broadcast_buffers is None:
            return
        if forward_sync_buffers is not None:
            warn(
                "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated "
                "and its value is ignored when `forward_sync_buffers` is provided.",
                FutureWarning,
            )
            return
        warn(
            "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. `broadcast_buffers=False` also "
            "leaves the buffers of the ranks different at the start, `forward_sync_buffers=False` does not.",
            FutureWarning,
        )
        self.forward_sync_buffers = self._init_sync_buffers = broadcast_buffers

    @property
    def broadcast_buffers(self) -> bool:
        """The old name of ``forward_sync_buffers``."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _named_trained_parameters(self) -> dict[str, Any]:
        """Return the parameters that require a gradient; a shared one comes once, under its first name."""
        return {
            name: p
            for name, p in self.module.named_parameters()
            if p.requires_grad and name not in self.parameters_to_ignore
        }

    def _build_params_for_reducer(self) -> tuple[list[Any], list[bool]]:
        """Return the parameters that require a gradient, and for each of them whether its gradient is sparse: never."""
        parameters = list(self._named_trained_parameters().values())
        return parameters, [False] * len(parameters)

    def _build_debug_param_to_name_mapping(self, parameters: Sequence[Any]) -> dict[int, str]:
        """Return the names of the Reducer's parameters by their places.

        Raises:
            ValueError: the parameters are not those of the module.
        """
        place_of = {p: i for i, p in enumerate(parameters)}
        named = self._named_trained_parameters()
        for name, p in named.items():
            if p not in place_of:
                raise ValueError(
                    f"Param with name {name} is not among the {len(parameters)} parameters of the Reducer."
                )
        if len(named) != len(place_of):
            raise ValueError(
                f"Expected param to name mapping to cover all {len(place_of)} parameters, but the module has "
                f"{len(named)} that require a gradient."
            )
        return {place_of[p]: name for name, p in named.items()}

    def _assign_modules_buffers(self) -> None:
        """Look up the buffers again, because a module may replace them."""
        self.named_module_buffers = {
            name: b for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore
        }
        self.modules_buffers = list(self.named_module_buffers.values())

    def _ddp_init_helper(self, static_graph: bool) -> None:
        """Build the first buckets and the Reducer."""
        parameters, _ = self._build_params_for_reducer()
        limits = self._bucket_config.compute_bucket_size_limits(static_graph, self.find_unused_parameters)
        buckets = _compute_bucket_assignment_by_size(parameters, limits)
        self.reducer = Reducer(
            parameters,
            buckets[::-1],
            self.process_group,
            self.bucket_bytes_cap,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
            self._build_debug_param_to_name_mapping(parameters),
            self._bucket_config.first_bucket_bytes_cap,
            self.batched_grad_copy,
            self._bucket_config.per_bucket_bytes_caps,
            self.skip_all_reduce_unused_params,
        )
        self.logger = Logger(self.reducer)
        self.logger.set_construction_data_and_log(
            type(self.module).__name__,
            self.device_ids or [],
            -1 if self.output_device is None else self.output_device,
            self.forward_sync_buffers,
            any(isinstance(each, SyncBatchNorm) for each in self.module.modules()),
            static_graph,
        )
        self._static_graph_delay_allreduce_enqueued = False
        self._set_up_mixed_precision()
        if static_graph:
            self._set_static_graph()

    def _set_up_mixed_precision(self) -> None:
        """Let passes compute in ``param_dtype``, and the ranks add in ``reduce_dtype``."""
        self._copies = _ParameterCopies()
        if self.mixed_precision is None:
            return
        self.register_comm_hook(_AllreduceUpcastHookState(weakref.ref(self)), _reducer_allreduce_and_upcast_hook)
        dtype = self.mixed_precision.param_dtype
        if dtype is not None:
            self._copies = _ParameterCopies(self._module_parameters, dtype)
            self.reducer._set_mixed_precision_param_dtype(dtype, self._copies.restore)

    # --- optimizers inside backward

    def _setup_in_backward_optimizers(self) -> None:
        """Let optimizers that were given to single parameters run when the average of a bucket has arrived."""
        trained = [p for p in self._module_parameters if hasattr(p, "_in_backward_optimizers")]
        if not trained:
            return
        # Imported here, because `import reftorch` does not load the optimizers.
        from reftorch.distributed.optim.apply_optimizer_in_backward import _remove_optimizer_hooks

        for p in trained:
            _remove_optimizer_hooks(p)  # they would run before the average
        self.register_comm_hook(weakref.ref(self), _apply_optim_in_backward_hook(self.gradient_as_bucket_view))
        self.reducer._set_optimizer_in_backward()

    def _register_fused_optim(
        self, optim: type, *args: Any, optim_params: Iterable[Any] | None = None, **kwargs: Any
    ) -> None:
        """Change each parameter as soon as the average of its bucket has arrived, while backward still runs.

        The program then calls no ``step()``. The optimizer takes the place of a hook for communication.

        Args:
            optim: the class of the optimizer, one of those in ``reftorch.distributed.optim.utils``.
            args: arguments of the optimizer after the parameters.
            optim_params: the parameters to change; all if None.
            kwargs: arguments of the optimizer by name.

        Raises:
            ValueError: the class is none of those.
            RuntimeError: there is a hook already.

        Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel._register_fused_optim``.
        """
        from reftorch.distributed.algorithms._optimizer_overlap import _as_overlapped_optim

        _as_overlapped_optim(optim, optim_params, *args, **kwargs).register_ddp(self)

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group != c10d._get_default_group():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, "
                "when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        if self._delayed.named:
            raise RuntimeError(
                "DDP Pickling/Unpickling are not supported with delay_all_reduce_named_params: a parameter loses its "
                "hooks in a file"
            )
        left = ("process_group", "reducer", "logger", "_comm_hooks")
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = c10d._get_default_group()
        super().__setstate__(state)
        self._comm_hooks, self._lazy_init_ran = [], False
        static_graph, self.static_graph = self.static_graph, False
        self._ddp_init_helper(static_graph)

    # --- what travels

    def _broadcast_module(self, src: int, broadcast_buffers: bool) -> None:
        _sync_module_states(
            self.module,
            self.process_group,
            self.broadcast_bucket_size,
            src,
            self.parameters_to_ignore,
            broadcast_buffers,
        )

    def will_sync_module_buffers(self) -> bool:
        """Return whether the next forward sends the buffers of rank 0.

        After a forward in ``no_sync()`` this is not the case: no backward has changed the models since.
        """
        return self.require_forward_param_sync and self.forward_sync_buffers and len(self.modules_buffers) > 0

    def _sync_buffers(self) -> None:
        src = self._find_common_rank(True) if self._join_config.enable else 0
        self._assign_modules_buffers()
        # A graph may have saved a buffer, for example in evaluation; new values of rank 0 do not make it stale.
        with no_grad(), _unsafe_preserve_version_counter(tuple(self.modules_buffers)):
            self._sync_module_buffers(src)

    def _syncs_buffers_at(self, location: _BufferCommHookLocation) -> bool:
        hook = self.buffer_hook
        here = _BufferCommHookLocation.PRE_FORWARD if hook is None else hook.buffer_comm_hook_location
        return location == here and self.will_sync_module_buffers()

    def _sync_module_buffers(self, authoritative_rank: int) -> None:
        if self.buffer_hook is None:
            self._default_broadcast_coalesced(authoritative_rank=authoritative_rank)
            return
        futures = self.buffer_hook.buffer_comm_hook(self.buffer_hook.buffer_comm_hook_state, self.named_module_buffers)
        if futures is not None:
            self.reducer._install_post_backward_futures(futures)

    def _default_broadcast_coalesced(
        self, bufs: Sequence[Tensor] | None = None, bucket_size: int | None = None, authoritative_rank: int = 0
    ) -> None:
        """Give all ranks the buffers of one; a function for buffers may call this. Mirrors PyTorch's method."""
        buffers = [b.detach() for b in (self.modules_buffers if bufs is None else bufs)]
        size = self.broadcast_bucket_size if bucket_size is None else bucket_size
        _broadcast_coalesced(self.process_group, buffers, size, authoritative_rank)

    def _find_common_rank(self, condition: bool) -> int:
        """Return the highest rank for which the condition holds. It holds for one rank at least."""
        rank = _C.tensor([self.process_group.rank() if condition else -1], device=self.device)
        c10d.all_reduce(rank, op=c10d.ReduceOp.MAX, group=self.process_group)
        return rank.item()

    def _some_rank_syncs(self, this_one: bool) -> bool:
        """Return whether any rank with input reduces gradients in this pass."""
        flag = _VF.full((1,), float(this_one), device=self.device)
        c10d.all_reduce(flag, group=self.process_group)
        return flag.item() != 0

    # --- a pass

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Return a context in which each process adds up its own gradients, without communication.

        The first backward pass of a forward outside the context reduces the sums. The forward decides whether its
        backward pass communicates, so the forward, too, must run inside the context.

        Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel.no_sync``.
        """
        former, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = former

    def _pre_forward(self, *inputs: Any, **kwargs: Any) -> tuple[Any, Any]:
        if self.device_ids:
            inputs, kwargs = _recursive_to((inputs, kwargs), _C.device(self.device_type, self.device_ids[0]))
        if self._delay_all_reduce_all_params:
            return inputs, kwargs
        if not self._lazy_init_ran:
            self._setup_in_backward_optimizers()
            self._lazy_init_ran = True
        if is_grad_enabled() and self.require_backward_grad_sync:
            self.logger.set_runtime_stats_and_log()
            self.reducer.prepare_for_forward()
        notice = Join.notify_join_context(self)
        if notice is not None:
            work, count = notice
            self.reducer._set_forward_pass_work_handle(work, count, self._divide_by_initial_world_size)
        if is_grad_enabled():
            self.reducer._rebuild_buckets()
        if self._syncs_buffers_at(_BufferCommHookLocation.PRE_FORWARD):
            self._sync_buffers()
        if self._join_config.enable:
            self._some_rank_syncs(self.require_backward_grad_sync)
        if self.mixed_precision is not None:
            if self._copies.use():
                self.reducer._install_autograd_hooks()
            inputs, kwargs = _cast_forward_inputs(self.mixed_precision.param_dtype, *inputs, **kwargs)
        return inputs, kwargs

    def _post_forward(self, output: Any) -> Any:
        self._delayed.begin_pass()
        if self._delay_all_reduce_all_params:
            return output
        if not is_grad_enabled():
            self._copies.restore()  # no backward will do so
        if self._syncs_buffers_at(_BufferCommHookLocation.POST_FORWARD):
            self._sync_buffers()
        searches = self.find_unused_parameters and not self.static_graph
        self.require_forward_param_sync = is_grad_enabled() and self.require_backward_grad_sync
        if self.require_forward_param_sync:
            self.reducer.prepare_for_backward(list(_find_tensors(output)) if searches else [])
        else:
            self.reducer.expect_autograd_hooks = False
        if searches or (self.static_graph and not self._static_graph_delay_allreduce_enqueued):
            output = self._through_the_sink(output)
        return output

    def _through_the_sink(self, output: Any) -> Any:
        """Return the outputs with the sink behind them; tensors without a graph stay as they are."""
        leaves, structure = tree_flatten(output)
        passed = _DDPSink.apply(weakref.ref(self), *leaves)
        constant = [isinstance(each, Tensor) and each.grad_fn is None for each in leaves]
        return tree_unflatten([a if c else b for a, b, c in zip(leaves, passed, constant, strict=True)], structure)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module, and prepare the Reducer for backward."""
        with record_function("DistributedDataParallel.forward"):
            inputs, kwargs = self._pre_forward(*inputs, **kwargs)
            return self._post_forward(self.module(*inputs, **kwargs))

    def scatter(self, inputs: Any, kwargs: Any, device_ids: Sequence[Any]) -> Any:
        """Split arguments among devices, as :class:`DataParallel` does."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def to_kwargs(self, inputs: Any, kwargs: Any, device_id: Any) -> Any:
        """Return the arguments by place and by name on a device, each in a tuple of one."""
        device = _C.device(self.device_type, device_id)
        return (_recursive_to(inputs, device),), (_recursive_to(kwargs or {}, device),)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """Join results of devices, as :class:`DataParallel` does."""
        return gather(outputs, output_device, dim=self.dim)

    def train(self, mode: bool = True) -> DistributedDataParallel:
        """Set training mode in this module and below."""
        super().train(mode)
        return self

    # --- options

    def _log_and_throw(self, err_type: type[Exception], err_msg: str) -> NoReturn:
        self.logger.set_error_and_log(f"{err_type}: {err_msg}")
        raise err_type(err_msg)

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """Return what the module knows about its settings and passes. See Note [Samples of run time]."""
        return self.logger._get_ddp_logging_data()

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Take times in each pass whose number is a multiple of this one, after the first ten passes."""
        if sample_rate < 1:
            self._log_and_throw(ValueError, "DDP runtime logging sample rate should be equal or greater than 1")
        self.reducer.runtime_logging_sample_rate = sample_rate

    def _set_ddp_sink_clone(self, val: bool) -> None:
        """Set whether the sink copies the outputs; without copies the program must not change them in place."""
        self._ddp_sink_clone = val

    def _register_buffer_comm_hook(
        self,
        state: Any,
        hook: Callable[[Any, dict[str, Tensor]], Any],
        comm_hook_location: _BufferCommHookLocation = _BufferCommHookLocation.POST_FORWARD,
    ) -> None:
        """Let a function make the buffers equal, in place of sending those of rank 0.

        Args:
            state: the first argument of the function.
            hook: the function. ``hook(state, named_buffers)`` changes the buffers in place. It may return a list of
                Futures: the next backward waits for them at its end.
            comm_hook_location: whether the function runs before or after the module.

        Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel._register_buffer_comm_hook``.
        """
        assert callable(hook), f"hook must be callable, got {type(hook).__name__}"
        self.buffer_hook = _BufferCommHook(hook, state, comm_hook_location)

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """Return a context for a training loop whose inputs are not equally many on all ranks.

        Args:
            divide_by_initial_world_size: whether gradients are divided by the number of all ranks, so that each sample
                has equal weight, or by the number of ranks that still have input.
            enable: False makes the context do nothing.
            throw_on_early_termination: whether all ranks raise an error as soon as one has no input left.

        Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel.join``. See Note [Uneven inputs].
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what this module does in :class:`Join` on a rank without input.

        Args:
            kwargs: ``divide_by_initial_world_size`` as for :meth:`join`.
        """
        return _DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group of the ranks that train together."""
        return self.process_group

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Future[Any]]) -> None:
        """Let a function reduce the buckets.

        Args:
            state: the first argument of the function.
            hook: the function. ``hook(state, bucket)`` is called when a bucket is ready, in the same order on all
                ranks, and returns a Future of the flat tensor for ``.grad``. The function divides by the number of
                ranks.

        Raises:
            TypeError: the hook cannot be called.
            ValueError: the hook has annotations of other types.
            RuntimeError: there is a hook already.

        Mirrors torch/nn/parallel/distributed.py, ``DistributedDataParallel.register_comm_hook``.
        """
        if not callable(hook):
            self._log_and_throw(TypeError, "Communication hook must be callable.")
        shown = signature(hook)
        bucket = shown.parameters.get("bucket")
        if bucket is not None and not _is_annotated_as(bucket.annotation, GradBucket):
            self._log_and_throw(ValueError, "Communication hook: bucket annotation should be dist.GradBucket.")
        if not _is_annotated_as(shown.return_annotation, Future, Future[Any], Future[Tensor]):
            self._log_and_throw(
                ValueError, "Communication hook: return annotation should be torch.futures.Future[torch.Tensor]."
            )
        self.reducer._register_comm_hook(state, hook)
        self.logger.set_comm_hook(getattr(hook, "__qualname__", type(hook).__qualname__))
        self._comm_hooks.append((hook, state))

    def _register_builtin_comm_hook(self, comm_hook_type: BuiltinCommHookType) -> None:
        """Let one of the two hooks that PyTorch has in C++ reduce the buckets. See :meth:`register_comm_hook`."""
        name = f"{comm_hook_type.name.lower()}_hook"
        self.reducer._register_comm_hook(self.process_group, getattr(default_hooks, name))
        self.logger.set_comm_hook(str(comm_hook_type))

    def _set_static_graph(self) -> None:
        """Promise that all passes are alike; the argument ``static_graph`` calls this method."""
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.static_graph = True
        self.reducer._set_static_graph()
        self.logger.set_static_graph()
        if self.find_unused_parameters:
            warn(
                "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect "
                "unused parameters automatically, so you do not need to set find_unused_parameters=true, just be sure "
                "these unused parameters will not change during training loop while calling `_set_static_graph`."
            )

    def _update_process_group(self, new_process_group: Any) -> None:
        """Train with another group of ranks from now on, for example with fewer, after one has died.

        A pass that was not finished is forgotten. Hooks that were registered keep their own group.

        Mirrors torch/nn/parallel/distributed.py, the method of this name.
        """
        self.reducer._reset_state()
        self.process_group = new_process_group
        self.reducer._update_process_group(new_process_group)

    def _remove_autograd_hooks(self) -> None:
        """Remove the Reducer's hooks from the parameters."""
        self.reducer._remove_autograd_hooks()

    def _check_reducer_finalized(self) -> None:
        """Raise an error unless the last backward has reduced all gradients, instead of at the next forward."""
        self.reducer._check_reducer_finalized()

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, params_and_buffers_to_ignore: Any) -> None:
        """Let DistributedDataParallel leave alone the parameters and buffers with these names.

        Mirrors torch/nn/parallel/distributed.py, the method of this name.
        """
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore
        named: list[tuple[str, Any]] = [*module.named_parameters(), *module.named_buffers()]
        for name, tensor in named:
            if name in params_and_buffers_to_ignore:
                tensor._ddp_ignored = True

    @staticmethod
    def _get_data_parallel_params(module: Module, named_params: bool = False) -> Iterator[Any]:
        """Yield the parameters of a module that DistributedDataParallel does not leave alone.

        Mirrors torch/nn/parallel/distributed.py, the method of this name.
        """
        for name, param in module.named_parameters():
            if not hasattr(param, "_ddp_ignored"):
                yield (name, param) if named_params else param
