"""What an op does with tensors that lie on a mesh: each rank computes with its pieces, and the result has a placement.

Mirrors: torch/distributed/tensor/_dispatch.py, torch/distributed/tensor/_ops/_matrix_ops.py
Leaves out: the strategies of PyTorch's other ops: here an op without a rule runs only if each rank has all operands.

Note [Ops on pieces]
Problem: a product of matrices that lie in pieces can often be computed without any message: with the rows of the left
matrix each rank computes rows of the result, with the columns of the right one columns. If the left matrix is cut along
its columns and the right one along its rows, each rank computes a summand. Trick: a rule per op says which placements
of the operands fit together, and how the result lies; operands that do not fit are moved first. Since autograd is above
the rules, the products of a backward pass follow the same rules, and a gradient that comes out as a summand (Partial)
is what needs an all_reduce. Limits: there are rules for products, sums, views, norms and for ops that treat each
element by itself. Any other op raises an error unless all its tensors are whole on each rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from reftorch.functional import broadcast_shapes
from reftorch.utils import _pytree

__all__ = ["dispatch"]

_Rule = Callable[..., Any]
_rules: dict[str, _Rule] = {}
_WHOLE, _SUM = Replicate(), Partial()

# Ops that treat each element by itself, and have no tag that says so.
_COPIES = ("detach", "clone", "alias", "_to_copy", "copy_", "zero_", "fill_", "zeros_like", "ones_like", "empty_like",
           "full_like", "lift_fresh")  # fmt: skip
# Ops that may be done with the summands of a tensor, because they are linear.
_LINEAR = ("detach", "clone", "alias", "copy_", "empty_like", "zeros_like", "zero_", "add", "add_", "sub", "neg")


def _rule(*names: str) -> Callable[[_Rule], _Rule]:
    def register(function: _Rule) -> _Rule:
        _rules.update(dict.fromkeys(names, function))
        return function

    return register


def _is_dtensor(value: Any) -> bool:
    return hasattr(value, "_local_tensor")


def _like(tensor: Any, local: Any, shape: Any, placement: Placement) -> Any:
    """Return a tensor on the mesh of another one."""
    return type(tensor)(local, tensor.device_mesh, [placement], shape=shape)


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an op of which at least one argument is a DTensor. See Note [Ops on pieces].

    Raises:
        RuntimeError: a tensor among the arguments is not a DTensor, or lies on another mesh.
        NotImplementedError: there is no rule for the op.
    """
    name = func._schema.name.partition("::")[2]
    if name in _rules:
        return _rules[name](func, *args, **kwargs)
    if name.startswith(("_foreach_", "_fused_")):
        return _of_lists(func, args, kwargs)
    if _C.Tag.pointwise in func.tags or name in _COPIES:
        return _pointwise(func, name, args, kwargs)
    return _whole(func, args, kwargs)


def _operands(func: Any, tree: Any) -> list[Any]:
    """Return the DTensors among the arguments, which all lie on one mesh."""
    leaves = _pytree.tree_leaves(tree)
    found = [leaf for leaf in leaves if _is_dtensor(leaf)]
    if any(isinstance(leaf, Tensor) and leaf.dim() > 0 and not _is_dtensor(leaf) for leaf in leaves):
        raise RuntimeError(
            f"{func}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling "
            "distributed operators! Hint: DTensor.from_local, distribute_tensor, or to_local"
        )
    if any(each.device_mesh != found[0].device_mesh for each in found):
        raise RuntimeError(f"{func}: the tensors lie on different meshes: {[each.device_mesh for each in found]}")
    return found


def _locals(tree: Any) -> Any:
    return _pytree.tree_map(lambda leaf: leaf._local_tensor if _is_dtensor(leaf) else leaf, tree)


# --- ops that treat each element by itself ---


def _pointwise(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute with the pieces, after all operands have been moved to one placement."""
    operands = _operands(func, (args, kwargs))
    in_place = name.endswith("_")
    shape = operands[0].shape if in_place else broadcast_shapes(*(each.shape for each in operands))
    same = all(each.placements == operands[0].placements and each.shape == shape for each in operands)
    target = operands[0].placements[0]
    if not (same and (not isinstance(target, Partial) or name in _LINEAR)):
        if not in_place:
            full = [each.placements[0] for each in operands if each.shape == shape]
            target = next((each for each in full if isinstance(each, Shard)), _WHOLE)
        elif isinstance(target, Partial):
            raise NotImplementedError(f"{func}: a tensor that is a sum over the ranks cannot be changed in place")
        move = {id(each): each._moved(_broadcast(target, each.shape, shape)) for each in operands}
        args, kwargs = _pytree.tree_map(lambda leaf: move.get(id(leaf), leaf), (args, kwargs))
    local = func(*_locals(args), **_locals(kwargs))
    return args[0] if in_place else _like(operands[0], local, shape, target)


def _broadcast(target: Placement, operand: Any, shape: Any) -> Placement:
    """Return how an operand has to lie so that its pieces fit those of the result; both shapes are given."""
    if not isinstance(target, Shard):
        return target
    dim = target.dim - (len(shape) - len(operand))
    return Shard(dim) if dim >= 0 and operand[dim] == shape[target.dim] else _WHOLE


def _of_lists(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an op on lists of tensors, such as a step of Adam. What stands at one place of the lists lies alike.

    Some places may have plain tensors: a layer that is not divided has a place in the lists of the optimizer, too.
    """
    lists = [each for each in args if isinstance(each, (list, tuple)) and each and isinstance(each[0], Tensor)]
    for row in zip(*(each for each in lists if len(each) == len(lists[0])), strict=True):
        tensors = [each for each in row if each.dim() or _is_dtensor(each)]
        kinds = {each.placements if _is_dtensor(each) else "a plain tensor" for each in tensors}
        if len(kinds) > 1 or (Partial(),) in kinds:
            raise NotImplementedError(f"{func}: the tensors of one parameter lie differently: {kinds}")
    if any(_is_dtensor(each) and each.placements[0] != _WHOLE for each in args):
        raise NotImplementedError(f"{func}: a number that is a tensor has to be whole on each rank")
    results = func(*_locals(args), **_locals(kwargs))
    if not func._schema.returns:
        return None
    return [
        _like(t, local, t.shape, t.placements[0]) if _is_dtensor(t) else local
        for t, local in zip(lists[0], results, strict=True)
    ]


def _whole(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an op without a rule, if each rank has all operands."""
    operands = _operands(func, (args, kwargs))
    if any(each.placements[0] != _WHOLE for each in operands):
        raise NotImplementedError(
            f"{func}: there is no rule for tensors in pieces: {[each.placements for each in operands]}. Hint: "
            "redistribute(placements=[Replicate()]), full_tensor(), or to_local()"
        )
    results = func(*_locals(args), **_locals(kwargs))
    if func._schema.name.endswith("_"):
        return args[0]
    return _pytree.tree_map(
        lambda out: _like(operands[0], out, out.shape, _WHOLE) if isinstance(out, Tensor) else out, results
    )


@_rule("new_empty_strided", "new_empty", "new_zeros")
def _new(func: Any, tensor: Any, size: Any, *stride: Any, **options: Any) -> Any:
    """Make memory for a tensor of the same shape, which then lies as this one, such as a gradient."""
    if list(size) != list(tensor.shape):
        return _whole(func, (tensor._moved(_WHOLE), size, *stride), options)
    local = tensor._local_tensor.new_zeros(tensor._local_tensor.shape, **options)
    return _like(tensor, local, tensor.shape, tensor.placements[0])


# --- products of matrices ---

_PRODUCTS: dict[tuple[Placement, Placement], Placement] = {
    (_WHOLE, _WHOLE): _WHOLE,
    (Shard(0), _WHOLE): Shard(0),  # rows of the left matrix: rows of the result
    (_WHOLE, Shard(1)): Shard(1),  # columns of the right matrix: columns of the result
    (Shard(1), Shard(0)): _SUM,  # a part of the inner dimension: a summand of the result
    (_SUM, _WHOLE): _SUM,
    (_WHOLE, _SUM): _SUM,
}


@_rule("mm")
def _mm(func: Any, left: Any, right: Any) -> Any:
    _operands(func, (left, right))
    if (left.placements[0], right.placements[0]) not in _PRODUCTS:
        if left.placements[0] == Shard(1):
            right = right._moved(Shard(0))
        elif right.placements[0] == Shard(0):
            left = left._moved(Shard(1))
        elif left.placements[0] == Shard(0):
            right = right._moved(_WHOLE)
        else:
            left = left._moved(_WHOLE)
    placement = _PRODUCTS[left.placements[0], right.placements[0]]
    local = func(left._local_tensor, right._local_tensor)
    return _like(left, local, (left.shape[0], right.shape[1]), placement)


@_rule("addmm")
def _addmm(func: Any, bias: Any, left: Any, right: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    _operands(func, (bias, left, right))
    return _VF.add(_VF.mm(left, right) * alpha if alpha != 1 else _VF.mm(left, right), bias, alpha=beta)


@_rule("embedding")
def _embedding(func: Any, weight: Any, indices: Any, *options: Any) -> Any:
    """Look up rows of a table that is whole, or cut between its columns."""
    _operands(func, (weight, indices))
    placement, indices = weight.placements[0], indices._moved(_WHOLE)
    if placement not in (_WHOLE, Shard(1)):
        raise NotImplementedError(f"{func}: a table of {placement!r}; only Shard(1) and Replicate have a rule")
    shape = (*indices.shape, weight.shape[1])
    local = func(weight._local_tensor, indices._local_tensor, *options)
    return _like(weight, local, shape, Shard(len(shape) - 1) if placement == Shard(1) else _WHOLE)


@_rule("embedding_dense_backward")
def _embedding_backward(func: Any, grad: Any, indices: Any, rows: int, *options: Any) -> Any:
    last = Shard(grad.dim() - 1)
    grad = grad if grad.placements[0] == last else grad._moved(_WHOLE)
    local = func(grad._local_tensor, indices._moved(_WHOLE)._local_tensor, rows, *options)
    return _like(grad, local, (rows, grad.shape[-1]), Shard(1) if grad.placements[0] == last else _WHOLE)


# --- views and sums ---


@_rule("t", "transpose")
def _transpose(func: Any, tensor: Any, *dims: int) -> Any:
    first, second = (each % tensor.dim() for each in dims) if dims else (0, tensor.dim() - 1)
    shape, placement = list(tensor.shape), tensor.placements[0]
    shape[first], shape[second] = shape[second], shape[first]
    if isinstance(placement, Shard) and placement.dim in (first, second):
        placement = Shard(second if placement.dim == first else first)
    return _like(tensor, func(tensor._local_tensor, *dims), shape, placement)


@_rule("unsqueeze")
def _unsqueeze(func: Any, tensor: Any, dim: int) -> Any:
    """Insert a dimension of length 1; a cut dimension behind it has a higher number then."""
    placement, dim = tensor.placements[0], dim % (tensor.dim() + 1)
    if isinstance(placement, Shard) and placement.dim >= dim:
        placement = Shard(placement.dim + 1)
    shape = [*tensor.shape[:dim], 1, *tensor.shape[dim:]]
    return _like(tensor, func(tensor._local_tensor, dim), shape, placement)


@_rule("view", "_unsafe_view", "expand")
def _view(func: Any, tensor: Any, size: Any, **options: Any) -> Any:
    """Give the tensor another shape. A dimension that is cut keeps its length, and what lies before it its number."""
    placement, size = tensor.placements[0], list(size)
    if not isinstance(placement, Shard):
        local = func(tensor._local_tensor, size, **options)
        return _like(tensor, local, local.shape, placement)
    old, dim = list(tensor.shape), placement.dim
    if func._schema.name == "aten::expand":
        new = dim + len(size) - len(old)
        known = [new] if old[dim] != 1 else []
    else:
        if -1 in size:
            size[size.index(-1)] = -math.prod(old) // math.prod(size) if math.prod(size) else 0
        before = math.prod(old[:dim])
        known = [d for d, length in enumerate(size) if length == old[dim] and math.prod(size[:d]) == before]
    if not known:
        raise NotImplementedError(
            f"{func}: the shape {tuple(size)} does not keep dimension {dim} of {tuple(old)}, along which the tensor "
            "is cut. Hint: redistribute(placements=[Replicate()])"
        )
    local_size = list(size)
    local_size[known[0]] = tensor._local_tensor.shape[dim]
    return _like(tensor, func(tensor._local_tensor, local_size, **options), size, Shard(known[0]))


@_rule("sum")
def _sum(func: Any, tensor: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
    """Add up elements. A sum along the dimension that is cut leaves a summand on each rank."""
    arguments = () if dim is None else (dim, keepdim)
    local, placement = func(tensor._local_tensor, *arguments, **options), tensor.placements[0]
    dims = {each % tensor.dim() for each in dim or range(tensor.dim())} if tensor.dim() else set()
    shape = [1 if d in dims else length for d, length in enumerate(tensor.shape) if keepdim or d not in dims]
    if isinstance(placement, Shard):
        gone = 0 if keepdim else sum(d < placement.dim for d in dims)
        placement = _SUM if placement.dim in dims else Shard(placement.dim - gone)
    return _like(tensor, local, shape, placement)


# --- norms and numbers ---


@_rule("linalg_vector_norm")
def _norm(func: Any, tensor: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the norm of all elements: each rank computes that of its piece, and one number of each rank travels."""
    if dim is not None or not isinstance(tensor.placements[0], Shard):
        return _whole(func, (tensor, ord, dim, keepdim), {"dtype": dtype})
    local = func(tensor._local_tensor, ord, None, keepdim, dtype=dtype)
    if math.isinf(ord):
        c10d.all_reduce(local, c10d.ReduceOp.MAX if ord > 0 else c10d.ReduceOp.MIN, tensor.device_mesh.get_group())
    else:
        local = local**ord
        c10d.all_reduce(local, group=tensor.device_mesh.get_group())
        local = local ** (1 / ord)
    return _like(tensor, local, local.shape, _WHOLE)


@_rule("_foreach_norm")
def _foreach_norm(func: Any, tensors: Any, ord: Any = 2, dtype: Any = None) -> Any:
    return [_VF.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in tensors]


@_rule("_local_scalar_dense")
def _item(func: Any, tensor: Any) -> Any:
    return func(tensor._moved(_WHOLE)._local_tensor)
