"""The parameters that travel together: from pieces to whole parameters, and from whole gradients to pieces.

Mirrors: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py
Leaves out: streams and prefetching, offloading, replicas of the pieces, other dimensions than the first.

PyTorch has two further files for this, ``_fsdp_param.py`` and ``_fsdp_collectives.py``.

Note [Parameters in pieces]
Problem: with data parallelism, each rank keeps a copy of all parameters, gradients and states of the optimizer, though
it uses the parameters of one layer at a time. Trick: a rank keeps the rows of each parameter that belong to it, as a
DTensor, and the optimizer knows only these rows. Before a layer runs, an all_gather puts its whole parameters together;
after it has run, their memory is given back. The same happens in the backward pass, which in addition leaves a whole
gradient on each rank; a reduce_scatter adds these up and leaves on each rank the rows that belong to it. The memory is
given back by resizing the *storage* to nothing, because the graph has saved the parameter and views of it: they see the
numbers again when the storage is filled again. The numbers are the same, so the version of the tensor is kept.
Limits: the bytes that travel are half as many again as those of an all_reduce of the gradients. One group travels as
one tensor, so all its parameters have one dtype.
Paper: Y. Zhao et al.: PyTorch FSDP, https://arxiv.org/abs/2304.11277
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch.autograd.grad_mode import no_grad
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.device_mesh import DeviceMesh
from reftorch.distributed.tensor import DTensor, Shard, distribute_tensor
from reftorch.distributed.tensor._redistribute import padded
from reftorch.distributed.tensor._utils import piece_of

__all__ = ["FSDPParam", "FSDPParamGroup"]


class FSDPParam:
    """One parameter: the piece of this rank, and the whole, whose memory is there only while it is used.

    Args:
        places: the modules that have the parameter, and its names there.
        param: the whole parameter.
        mesh: the ranks.
        dtype: of the whole; None means that of the piece.
    """

    def __init__(self, places: list[tuple[Any, str]], param: Any, mesh: DeviceMesh, dtype: Any = None) -> None:
        self.places = places
        self.kind, self.shape, self.requires_grad = type(param), param.shape, param.requires_grad
        piece = distribute_tensor(param.detach(), mesh, [Shard(0)], src_data_rank=None)
        self.sharded_param = self.kind(piece, requires_grad=self.requires_grad)
        self.unsharded_param = self.kind(_VF.empty_like(param.detach(), dtype=dtype), requires_grad=self.requires_grad)
        self.bytes = self.unsharded_param.untyped_storage().nbytes()
        self.kept_grad: Any = None  # whole gradients that have not travelled yet: see set_requires_gradient_sync
        self.rows = piece_of(self.shape[0], mesh.size(), 0)[1]  # of the longest piece
        self.numel = self.rows * self.shape[1:].numel()  # of the longest piece

    def register(self, param: Any) -> None:
        for module, name in self.places:
            module._parameters[name] = param

    def padded_piece(self) -> Any:
        """Return the piece in the dtype of the whole, with as many rows as the longest piece has."""
        piece = self.sharded_param._local_tensor.to(self.unsharded_param.dtype)
        return padded(piece, 0, self.rows).reshape(-1)


class FSDPParamGroup:
    """The parameters of one call of ``fully_shard``. See Note [Parameters in pieces].

    Args:
        params: the parameters, of one dtype.
        mesh: the ranks.
        reduce_dtype: in which gradients are added up over the ranks; None means that of the whole parameters.
    """

    def __init__(self, params: list[FSDPParam], mesh: DeviceMesh, reduce_dtype: Any = None) -> None:
        self.params, self.mesh, self.reduce_dtype = params, mesh, reduce_dtype
        self.size, self.group = mesh.size(), mesh.get_group()
        self.is_unsharded = True
        self.reduce_grads = True
        self.reshard_after_backward = True
        self.divide_factor = float(self.size)
        self.reshard()

    @property
    def numel(self) -> int:
        """The number of elements that one rank sends."""
        return sum(param.numel for param in self.params)

    def unshard(self) -> None:
        """Let the modules have whole parameters. All ranks call this."""
        if self.is_unsharded or not self.params:
            return
        self.is_unsharded = True
        with no_grad():
            mine = _VF.cat([param.padded_piece() for param in self.params])
            gathered = mine.new_empty((self.size, self.numel))
            c10d.all_gather_into_tensor(gathered, mine, self.group)
            pieces = gathered.split([param.numel for param in self.params], dim=1)
            for param, rows in zip(self.params, pieces, strict=True):
                param.unsharded_param.untyped_storage().resize_(param.bytes)
                # .data has a version of its own, so that the saved tensors of the graph do not look changed.
                whole = rows.reshape(self.size * param.rows, *param.shape[1:])
                param.unsharded_param.data.copy_(whole[: param.shape[0]])
                param.register(param.unsharded_param)

    def reshard(self) -> None:
        """Give the memory of the whole parameters back, and let the modules have this rank's pieces."""
        if self.is_unsharded:
            self.is_unsharded = False
            for param in self.params:
                param.unsharded_param.untyped_storage().resize_(0)
                param.register(param.sharded_param)

    def post_backward(self) -> None:
        """Bring the gradients of the whole parameters to the pieces. All ranks call this."""
        done = [param for param in self.params if param.unsharded_param.grad is not None]
        for param in done:
            grad, param.unsharded_param.grad = param.unsharded_param.grad, None
            grad = grad.to(self.reduce_dtype or grad.dtype)
            param.kept_grad = grad if param.kept_grad is None else param.kept_grad + grad
        if self.reshard_after_backward:
            self.reshard()
        if self.reduce_grads:
            self.reduce([param for param in self.params if param.requires_grad])

    def reduce(self, params: list[FSDPParam]) -> None:
        """Add up the gradients over the ranks; each rank gets the rows of its pieces, and accumulates them.

        A parameter that this rank has not used counts as zero, because all ranks have to send equally much.
        """
        if not any(param.kept_grad is not None for param in params):
            return
        with no_grad():
            columns = []
            for param in params:
                grad = param.kept_grad
                if grad is None:
                    dtype = self.reduce_dtype or param.unsharded_param.dtype
                    grad = param.sharded_param._local_tensor.new_zeros(param.shape, dtype=dtype)
                columns.append(padded(grad, 0, self.size * param.rows).reshape(self.size, param.numel))
            whole = _VF.cat(columns, 1)
            mine = whole.new_empty(whole.shape[1])
            c10d.reduce_scatter_tensor(mine, whole, group=self.group)
            mine.div_(self.divide_factor)
            for param, piece in zip(params, mine.split([param.numel for param in params]), strict=True):
                sharded = param.sharded_param
                rows = piece.view(param.rows, *param.shape[1:])[: sharded._local_tensor.shape[0]]
                grad = DTensor(rows.to(sharded.dtype), self.mesh, sharded.placements, shape=param.shape)
                sharded.grad = grad if sharded.grad is None else sharded.grad + grad
                param.kept_grad = None
