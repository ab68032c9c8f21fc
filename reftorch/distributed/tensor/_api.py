"""``DTensor``: a tensor whose elements lie on several ranks, and the functions that make one.

Mirrors: torch/distributed/tensor/_api.py
Leaves out: meshes of several dimensions, factories such as ``zeros``, saving: save what ``full_tensor`` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch.autograd import Function
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from reftorch.distributed.tensor import _dispatch
from reftorch.distributed.tensor._redistribute import Redistribute, for_gradient, redistribute_local_tensor
from reftorch.distributed.tensor._utils import checked_placement, piece_of
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensor", "distribute_module", "distribute_tensor"]


class _ToLocal(Function):
    """From a DTensor to this rank's part, as an operation of the graph."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, placement: Placement) -> Any:
        ctx.mesh, ctx.shape, ctx.placement = tensor.device_mesh, tensor.shape, placement
        return tensor._local_tensor.view_as(tensor._local_tensor)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return DTensor(grads[0], ctx.mesh, [ctx.placement], shape=ctx.shape), None


class _FromLocal(Function):
    """From this rank's part to a DTensor, as an operation of the graph."""

    @staticmethod
    def forward(ctx: Any, local: Any, mesh: DeviceMesh, placement: Placement, shape: Any) -> Any:
        ctx.placement = for_gradient(placement)
        return DTensor(local.view_as(local), mesh, [placement], shape=shape)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]._moved(ctx.placement)._local_tensor, None, None, None


class DTensor(Tensor):
    """A tensor whose elements lie on the ranks of a mesh: see :func:`distribute_tensor` and :meth:`from_local`.

    It has the shape of the whole tensor, and no memory of its own: this rank's part is a plain tensor inside it. Ops
    compute with the parts; see Note [Ops on pieces] in ``_dispatch.py``.

    Args:
        local_tensor: what this rank has. It is not copied.
        device_mesh: the ranks.
        placements: one placement, of the kind Shard, Replicate or Partial.
        shape: the shape of the whole tensor.
        requires_grad: whether gradients accumulate in ``.grad``.

    Example:
        >>> from reftorch.distributed.device_mesh import init_device_mesh
        >>> from reftorch.distributed.tensor import Shard, distribute_tensor
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     mesh = init_device_mesh("cpu", (2,))
        ...     x = distribute_tensor(torch.tensor([1.0, 2.0, 3.0]), mesh, [Shard(0)])
        ...     return x.to_local().tolist(), (x * 10).full_tensor().tolist(), tuple(x.shape)
        >>> program()
        [([1.0, 2.0], [10.0, 20.0, 30.0], (3,)), ([3.0], [10.0, 20.0, 30.0], (3,))]

    Mirrors torch/distributed/tensor/_api.py, ``DTensor``, whose constructor takes a specification object.
    """

    _local_tensor: Any
    _mesh: DeviceMesh
    _placement: Placement

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(
        cls,
        local_tensor: Any,
        device_mesh: DeviceMesh,
        placements: Sequence[Placement],
        *,
        shape: Any,
        requires_grad: bool = False,
    ) -> DTensor:
        # The whole has the order of dimensions in memory that the part has.
        order = sorted(range(len(shape)), key=local_tensor.stride().__getitem__, reverse=True)
        strides, step = [1] * len(shape), 1
        for dim in reversed(order):
            strides[dim], step = step, step * max(shape[dim], 1)
        self: Any = Tensor._make_wrapper_subclass(
            cls, tuple(shape), strides=strides, dtype=local_tensor.dtype, device=local_tensor.device,
            requires_grad=requires_grad,
        )  # fmt: skip
        self._local_tensor = local_tensor.detach()
        self._mesh = device_mesh
        self._placement = checked_placement(device_mesh, placements, len(shape))
        return self

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _dispatch.dispatch(func, args, kwargs or {})

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks."""
        return self._mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How the tensor lies on the ranks: a tuple with one placement."""
        return (self._placement,)

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Any = None,
        stride: Any = None,
        grad_placements: Any = None,
    ) -> DTensor:
        """Return the tensor whose part on this rank is ``local_tensor``. Gradients pass through this function.

        Args:
            local_tensor: what this rank has.
            device_mesh: the ranks; all ranks if None.
            placements: how the parts make up the whole; Replicate if None. Nothing checks the parts.
            run_check, grad_placements, stride: only the defaults.
            shape: the shape of the whole. Without it, all ranks must have parts of equal size.

        Mirrors torch/distributed/tensor/_api.py, ``DTensor.from_local``.
        """
        if run_check or grad_placements is not None or stride is not None:
            raise NotImplementedError("DTensor.from_local: run_check, stride and grad_placements must be left out")
        mesh = _mesh_or_all(device_mesh)
        placement = checked_placement(mesh, placements, local_tensor.dim())
        if shape is None:
            shape = list(local_tensor.shape)
            if isinstance(placement, Shard):
                shape[placement.dim] *= mesh.size()
        return _FromLocal.apply(local_tensor, mesh, placement, tuple(shape))

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """Return this rank's part. Gradients pass through this function.

        Args:
            grad_placements: how the gradient lies that comes back; as the tensor does if None.
        """
        if not (_C.is_grad_enabled() and self.requires_grad):
            return self._local_tensor
        placement = (
            for_gradient(self._placement)
            if grad_placements is None
            else checked_placement(self._mesh, grad_placements, self.dim())
        )
        return _ToLocal.apply(self, placement)

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> DTensor:
        """Return the tensor with another placement. All ranks of the mesh call this. Gradients pass through it.

        Args:
            device_mesh: only the mesh of this tensor, or None.
            placements: Shard or Replicate.
            async_op, forward_dtype, backward_dtype: only the defaults.

        Raises:
            RuntimeError: ``placements`` is missing.
            NotImplementedError: an argument that is left out here; a tensor cannot become Partial.
        """
        if device_mesh not in (None, self._mesh) or async_op or forward_dtype or backward_dtype:
            raise NotImplementedError("DTensor.redistribute: only placements may be given")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        return Redistribute.apply(self, self._mesh, checked_placement(self._mesh, placements, self.dim()))

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """Return the whole tensor, on each rank. All ranks of the mesh call this. Gradients pass through it.

        Args:
            grad_placements: how the gradient lies that comes back; whole on each rank if None.
        """
        return self.redistribute(placements=[Replicate()]).to_local(grad_placements=grad_placements)

    def _moved(self, placement: Placement) -> DTensor:
        """Return the tensor with another placement, without a graph."""
        if placement == self._placement:
            return self
        local = redistribute_local_tensor(self._local_tensor, self.shape, self._mesh, self._placement, placement)
        return DTensor(local, self._mesh, [placement], shape=self.shape)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return f"DTensor(local_tensor={self._local_tensor}, device_mesh={self._mesh}, placements={self.placements})"

    def __deepcopy__(self, memo: dict[int, Any]) -> DTensor:
        if id(self) not in memo:
            copy: Any = self.detach().clone()
            if getattr(self, "_is_param", False):
                copy._is_param = True
            memo[id(self)] = copy.requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, proto: Any) -> Any:
        raise NotImplementedError(
            "a DTensor cannot be pickled: its mesh consists of connections. Hint: save what full_tensor() returns, on "
            "one rank, and call full_tensor() on all ranks"
        )


def _mesh_or_all(mesh: DeviceMesh | None) -> DeviceMesh:
    return init_device_mesh("cpu", (c10d.get_world_size(),)) if mesh is None else mesh


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """Return a DTensor with the numbers of a tensor that one rank has. It is a leaf of the graph.

    Args:
        tensor: the whole, of the same shape on all ranks.
        device_mesh: the ranks; all ranks if None.
        placements: Shard or Replicate; Replicate if None.
        src_data_rank: the rank in the mesh whose numbers count; with None each rank cuts its own tensor, and nothing
            travels.

    Raises:
        ValueError: the placement is Partial.

    Example:
        >>> from reftorch.distributed.tensor import Shard, distribute_tensor
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     return distribute_tensor(torch.arange(4), None, [Shard(0)])
        >>> program()[1].to_local(), program()[1].placements
        (tensor([2, 3]), (Shard(dim=0),))

    Mirrors torch/distributed/tensor/_api.py, ``distribute_tensor``.
    """
    mesh = _mesh_or_all(device_mesh)
    placement = checked_placement(mesh, placements, tensor.dim())
    if isinstance(placement, Partial):
        raise ValueError("distribute_tensor: the placement must be Shard or Replicate, not Partial")
    local: Any = tensor.detach()
    if src_data_rank is not None:
        local = local.clone(memory_format=_C.contiguous_format)
        c10d.broadcast(local, group=mesh.get_group(), group_src=src_data_rank)
    if isinstance(placement, Shard):
        begin, length = piece_of(tensor.shape[placement.dim], mesh.size(), mesh.get_local_rank())
        local = local.narrow(placement.dim, begin, length).clone(memory_format=_C.contiguous_format)
    return DTensor(local, mesh, [placement], shape=tensor.shape, requires_grad=tensor.requires_grad)


def distribute_module(
    module: Any,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Any, DeviceMesh], None] | None = None,
    input_fn: Callable[[Any, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[Any, Any, DeviceMesh], Any] | None = None,
) -> Any:
    """Make the parameters of a module DTensors, and let functions convert its inputs and outputs.

    Args:
        module: is changed, and returned.
        device_mesh: the ranks; all ranks if None.
        partition_fn: called with the name of each submodule, the submodule and the mesh; registers DTensors in place
            of parameters. What it leaves becomes a replicated DTensor.
        input_fn: called before ``forward`` with the module, the tuple of its arguments and the mesh; returns the tuple.
        output_fn: called with the module, its result and the mesh; returns the result.

    Mirrors torch/distributed/tensor/_api.py, ``distribute_module``.
    """
    mesh = _mesh_or_all(device_mesh)
    for name, submodule in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, submodule, mesh)
        replace_parameters(submodule, mesh, {})
        for key, buffer in submodule._buffers.items():
            if buffer is not None and not isinstance(buffer, DTensor):
                submodule._buffers[key] = distribute_tensor(buffer, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda module, inputs: input_fn(module, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda module, inputs, output: output_fn(module, output, mesh))
    return module


def replace_parameters(
    module: Any, mesh: DeviceMesh, placements: dict[str, Placement], src_data_rank: int | None = 0
) -> None:
    """Make each parameter of a module a DTensor, with the placement under its name, and Replicate without one."""
    for name, parameter in module._parameters.items():
        if parameter is not None and not isinstance(parameter, DTensor):
            whole = distribute_tensor(parameter, mesh, [placements.get(name, Replicate())], src_data_rank=src_data_rank)
            module._parameters[name] = type(parameter)(whole, requires_grad=parameter.requires_grad)
