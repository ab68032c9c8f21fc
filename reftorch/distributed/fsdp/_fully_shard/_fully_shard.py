"""``fully_shard``: data parallelism in which each rank keeps a piece of each parameter.

Mirrors: torch/distributed/fsdp/_fully_shard/_fully_shard.py, torch/distributed/fsdp/_fully_shard/_fsdp_init.py
Leaves out: lists of modules, meshes of two dimensions, other dimensions than the first, ignored parameters.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from reftorch.distributed.fsdp._fully_shard._fsdp_api import MixedPrecisionPolicy, OffloadPolicy
from reftorch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParam, FSDPParamGroup
from reftorch.distributed.fsdp._fully_shard._fsdp_state import FSDPState
from reftorch.distributed.tensor import DTensor

__all__ = ["FSDPModule", "UnshardHandle", "fully_shard"]

_ONE_DTYPE, _NO_OFFLOAD = MixedPrecisionPolicy(), OffloadPolicy()
_classes: dict[type, type] = {}  # by the class of a module, the class that it has after fully_shard


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Any = None,
    mp_policy: MixedPrecisionPolicy = _ONE_DTYPE,
    offload_policy: OffloadPolicy = _NO_OFFLOAD,
    ignored_params: Any = None,
    dp_mesh_dims: Any = None,
) -> Any:
    """Divide the parameters of a module among the ranks: each keeps some rows of each parameter.

    The parameters of one call travel together, except those of submodules that are divided already. So call the
    function from the inside out: on each large layer, and on the whole model at last. Make the optimizer afterwards:
    its parameters are the pieces, ``DTensor`` objects with ``Shard(0)``. Each rank computes with its part of the batch;
    the gradients are averaged over the ranks, as by DistributedDataParallel. See Note [Parameters in pieces].

    Each rank cuts its own parameters, so all ranks have to start with equal ones, for example from one seed. A
    parameter that two modules share must belong to one call.
    ``state_dict()`` has the pieces as DTensors, and ``load_state_dict`` takes such pieces. ``full_tensor()`` of a
    piece, called on all ranks, returns the whole parameter.

    Args:
        module: is changed, and returned; its class becomes a subclass of its class and of :class:`FSDPModule`.
        mesh: the ranks, in one dimension; all ranks if None.
        reshard_after_forward: whether the memory of whole parameters is given back between forward and backward, and
            they are put together twice. None means True, except for the outermost module.
        shard_placement_fn, ignored_params, dp_mesh_dims: only None.
        mp_policy: dtypes, see :class:`MixedPrecisionPolicy`. Each call of the function has its own.
        offload_policy: only the default.

    Returns:
        The module.

    Raises:
        NotImplementedError: an argument that is left out here.
        ValueError: a parameter is a number without a dimension; the module is divided already, or is a list of modules.
        AssertionError: the parameters of the call have several dtypes.

    Example:
        >>> from reftorch.distributed.fsdp import fully_shard
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> start = torch.nn.Linear(2, 3).state_dict()
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     net = torch.nn.Sequential(torch.nn.Linear(2, 3))
        ...     net[0].load_state_dict(start)
        ...     fully_shard(net)
        ...     net(torch.ones(1, 2)).sum().backward()
        ...     return tuple(net[0].weight.to_local().shape), net[0].bias.grad.to_local().tolist()
        >>> program()
        [((2, 2), [1.0, 1.0]), ((1, 2), [1.0])]

    Mirrors torch/distributed/fsdp/_fully_shard/_fully_shard.py, ``fully_shard``.
    """
    for name, given, wanted in (
        ("shard_placement_fn", shard_placement_fn, "None"),
        ("ignored_params", ignored_params, "None"),
        ("dp_mesh_dims", dp_mesh_dims, "None"),
    ):
        if given is not None:
            raise NotImplementedError(f"fully_shard: {name} must be {wanted}")
    if isinstance(reshard_after_forward, int) and not isinstance(reshard_after_forward, bool):
        raise NotImplementedError(
            "fully_shard: reshard_after_forward must be True, False or None, not a number of ranks"
        )
    if isinstance(module, (list, tuple)) or not hasattr(module, "named_modules"):
        raise NotImplementedError(f"fully_shard: one module is needed, not a {type(module).__name__}")
    if isinstance(module, FSDPModule):
        raise ValueError("fully_shard: the module is divided already")
    mesh = init_device_mesh("cpu", (c10d.get_world_size(),)) if mesh is None else mesh
    if mesh.ndim != 1:
        raise NotImplementedError(
            f"fully_shard: the mesh must have one dimension, not {mesh.ndim}. Hint: mesh[name] is one line of it"
        )
    params = [FSDPParam(places, param, mesh, mp_policy.param_dtype) for places, param in _parameters_of(module)]
    group = FSDPParamGroup(params, mesh, mp_policy.reduce_dtype)
    vars(module)["_fsdp_state"] = FSDPState(module, group, reshard_after_forward, mp_policy)
    cls = type(module)
    if cls not in _classes:
        _classes[cls] = type(f"FSDP{cls.__name__}", (FSDPModule, cls), {"__deepcopy__": _no_deepcopy})
    module.__class__ = _classes[cls]
    return module


def _parameters_of(module: Any) -> list[tuple[list[tuple[Any, str]], Any]]:
    """Return the parameters that no inner call of ``fully_shard`` has taken, each with all its places."""
    inner = [state for each in module.modules() if (state := getattr(each, "_fsdp_state", None)) is not None]
    taken = {id(param.sharded_param) for state in inner for param in state.group.params}
    found: dict[int, tuple[list[tuple[Any, str]], Any]] = {}
    for path, submodule in module.named_modules():
        for name, param in submodule._parameters.items():
            if param is None or id(param) in taken:
                continue
            if isinstance(param, DTensor):
                raise NotImplementedError(
                    f"fully_shard: {path + '.' if path else ''}{name} lies in pieces already, as {param.placements}. "
                    "One of parallelize_module and fully_shard can divide it, not both"
                )
            if param.dim() == 0:
                raise ValueError(
                    "fully_shard doesn't support scalar parameters. Change "
                    f"{path + '.' if path else ''}{name} to a 1D tensor with numel equal to 1."
                )
            found.setdefault(id(param), ([], param))[0].append((submodule, name))
    dtypes = {param.dtype for _, param in found.values()}
    if len(dtypes) > 1:
        raise AssertionError(f"FSDP expects uniform original parameter dtype but got {dtypes}")
    return list(found.values())


def _no_deepcopy(*args: Any) -> NoReturn:
    raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")


class UnshardHandle:
    """What ``unshard(async_op=True)`` returns. The parameters are there already: nothing travels in the background.

    Mirrors torch/distributed/fsdp/_fully_shard/_fully_shard.py, ``UnshardHandle``.
    """

    def wait(self) -> None:
        """Return at once."""


class FSDPModule:
    """What a module can do in addition after :func:`fully_shard`. ``isinstance(module, FSDPModule)`` tells.

    Mirrors torch/distributed/fsdp/_fully_shard/_fully_shard.py, ``FSDPModule``.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a module of the original class: ``sequential[1:]`` makes a new module of its class."""
        original: Any = cls.__mro__[2]
        self = original.__new__(original, *args, **kwargs)
        self.__init__(*args, **kwargs)
        return self

    def _states(self, recurse: bool) -> list[FSDPState]:
        state: FSDPState = vars(self)["_fsdp_state"]
        return state.states() if recurse else [state]

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Put the whole parameters together, those of submodules excepted. All ranks call this.

        Args:
            async_op: whether to return a handle to wait for. The parameters are there when this method returns.
        """
        self._states(recurse=False)[0].group.unshard()
        return UnshardHandle() if async_op else None

    def reshard(self) -> None:
        """Give the memory of the whole parameters back, those of submodules excepted."""
        self._states(recurse=False)[0].group.reshard()

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Say whether the next backward passes let gradients travel. Without, each rank keeps its whole gradients.

        The next backward pass with gradients that travel takes the kept ones along.

        Args:
            requires_gradient_sync: False for all but the last of several batches that make one step.
            recurse: whether this goes for the modules inside, too.
        """
        for state in self._states(recurse):
            state.group.reduce_grads = requires_gradient_sync

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Say whether the memory of whole parameters is given back after ``forward``. See :func:`fully_shard`."""
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}")
        for state in self._states(recurse):
            state.reshard_after_forward = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Say whether the memory of whole parameters is given back after the backward pass.

        Without, they are still there for the next batch of the same step. Call :meth:`reshard` before the optimizer
        changes the pieces.
        """
        for state in self._states(recurse):
            state.group.reshard_after_backward = reshard_after_backward

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divide the sums of gradients by ``factor``, and not by the number of ranks, in this module alone."""
        self._states(recurse=False)[0].group.divide_factor = factor

    def _apply(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("a module in pieces cannot be converted or moved. Hint: do this before fully_shard")
