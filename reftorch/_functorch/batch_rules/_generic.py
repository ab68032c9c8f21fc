"""The batching rules that ops of several families share.

Mirrors: aten/src/ATen/functorch/BatchRulesHelper.h
Leaves out: the rules of one family, which stand in the file of the family.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, Rule, call, logical_rank, shifted, spread

# --- each element by itself -------------------------------------------------------------------------------------------


def aligned(values: list[Any], batched: list[Any]) -> list[Any]:
    """Insert dimensions of size 1 after the batch dimension, so that the others broadcast as for one example."""
    tensors = [(v, b) for v, b in zip(values, batched, strict=True) if isinstance(v, _C.TensorBase)]
    rank = max(logical_rank(v, b) for v, b in tensors)

    def align(value: Any, is_batched: bool) -> Any:
        if not is_batched or value.dim() == rank + 1:
            return value
        return value.reshape(value.size(0), *[1] * (rank + 1 - value.dim()), *value.shape[1:])

    return [align(v, b) if isinstance(v, _C.TensorBase) else v for v, b in zip(values, batched, strict=True)]


def _promoted(values: list[Any], batched: list[Any]) -> list[Any]:
    """Cast 0-dim examples to the right dtype: in the batch they have a dimension, which changes type promotion."""
    tensors = [(v, b) for v, b in zip(values, batched, strict=True) if isinstance(v, _C.TensorBase)]
    numbers = [v for v, b in tensors if b and v.dim() == 1]
    if not numbers or len({v.dtype for v, _ in tensors}) == 1 or all(logical_rank(v, b) == 0 for v, b in tensors):
        return values
    dtype = None
    for v, b in tensors:
        if v.dtype == _C.bool and len(tensors) > 2:
            continue  # the condition of where
        if logical_rank(v, b) > 0:
            dtype = v.dtype if dtype is None else _C.promote_types(dtype, v.dtype)
    if dtype is None:
        return values
    one = _C._VariableFunctions.empty(1, dtype=dtype)
    for number in numbers:
        result = _C._result_type(one, _C._VariableFunctions.empty((), dtype=number.dtype))
        one = _C._VariableFunctions.empty(1, dtype=result)
    return [v.to(one.dtype) if any(v is n for n in numbers) and v.dtype != _C.bool else v for v in values]


def pointwise(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run the op on the batch: all but one of the arguments are numbers, so nothing has to be aligned."""
    return op(args)


def broadcasting(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run the op on batches whose examples broadcast as they would alone."""
    return op(aligned(_promoted(args, batched), batched))


def copied(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Return the source in the shape of the destination."""
    destination, source = aligned(args[:2], batched[:2])
    return source.expand(destination.shape)


# --- reductions, and ops along a dimension ----------------------------------------------------------------------------


def over_dims(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run a reduction over several dimensions, or over all dimensions of an example if it names none."""
    at, rank = op.position("dim"), args[0].dim() - 1
    keepdim = args[op.position("keepdim")]
    if rank == 0:
        args[0] = args[0].unsqueeze(1)
        result = op([*args[:at], [shifted(d, 0) for d in args[at] or (0,)], *args[at + 1 :]])
        return _reshaped(result, size) if keepdim else result
    if args[at] is None or len(args[at]) == 0:
        dims = list(range(1, rank + 1))
    else:
        dims = [shifted(d, rank) for d in args[at]]
    return op([*args[:at], dims, *args[at + 1 :]])


def _reshaped(result: Any, size: int) -> Any:
    if isinstance(result, tuple):
        return tuple(_reshaped(r, size) for r in result)
    return result.reshape(size)


def over_dim(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run an op along one dimension of each example."""
    at, rank = op.position("dim"), args[0].dim() - 1
    args[at] = shifted(args[at], rank)
    if rank > 0:
        return op(args)
    args[0] = args[0].unsqueeze(1)
    if op.name == "topk":
        args[1] = 1  # a single number has only itself to return, whatever k is
    return _reshaped(op(args), size)


def over_dim_or_all(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run a reduction over one dimension, over several dimensions, or over the flattened example if ``dim`` is None."""
    at, keep_at, rank = op.position("dim"), op.position("keepdim"), args[0].dim() - 1
    if args[at] is None:
        args[0], keepdim = args[0].reshape(size, -1), args[keep_at]
        args[at], args[keep_at] = 1, False
        result = op(args)
        if not keepdim:
            return result
        shape = (size, *[1] * rank)
        return tuple(r.reshape(shape) for r in result) if isinstance(result, tuple) else result.reshape(shape)
    if not isinstance(args[at], int):
        return over_dims(op, args, batched, size)
    return over_dim(op, args, batched, size)


def over_all(name: str, rest: Callable[[list[Any]], tuple[Any, ...]]) -> Rule:
    """Make the rule of an overload without ``dim``: each example is flattened, and the overload with ``dim`` is called.

    Args:
        name: the overload with ``dim``.
        rest: the further arguments of this overload, from the arguments of the overload without ``dim``.
    """

    def rule(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
        if "median" in name and args[0].numel() == 0:
            return args[0].new_full((size,), math.nan)
        result = call(name, [args[0].reshape(size, -1), *rest(args)])
        return result[0] if isinstance(result, tuple) else result

    return rule


# --- images -----------------------------------------------------------------------------------------------------------


def over_images(dims: int) -> Rule:
    """Make the rule of an op on images of so many dimensions: the examples of all batches become one batch."""

    def rule(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
        values = [spread(v, b, size) if isinstance(v, _C.TensorBase) else v for v, b in zip(args, batched, strict=True)]
        images = next(v for v in values if isinstance(v, _C.TensorBase))
        if images.dim() == dims + 2:  # one image each, so that the batch takes the place of N
            return op(values)
        if images.dim() != dims + 3:  # the op raises for one example
            return op([v[0] if isinstance(v, _C.TensorBase) else v for v in values])
        n = images.size(1)
        result = op([v.flatten(0, 1) if isinstance(v, _C.TensorBase) else v for v in values])
        if isinstance(result, tuple):
            return tuple(r.reshape(size, n, *r.shape[1:]) for r in result)
        return result.reshape(size, n, *result.shape[1:])

    return rule


def one_by_one(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run the op example by example, and leave out the results that it does not compute."""
    results = [op([v[i] if b else v for v, b in zip(args, batched, strict=True)]) for i in range(size)]
    stack = _C._VariableFunctions.stack
    if not isinstance(results[0], tuple):
        return stack(results)
    return tuple(None if column[0] is None else stack(list(column)) for column in zip(*results, strict=True))


# --- parts ------------------------------------------------------------------------------------------------------------


def part(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run an op that returns parts along a dimension."""
    at, rank = op.position("dim"), args[0].dim() - 1
    if rank == 0:
        raise IndexError(f"{op.name.split('.')[0]}() cannot be applied to a 0-dim tensor.")
    args[at] = shifted(args[at], rank)
    return op(args)


def part_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run an op that writes a part into zeros of a given shape."""
    at, rank = op.position("dim"), len(args[1])
    args[at] = shifted(args[at], rank)
    args[1] = [size, *args[1]]
    return op(args)


# --- matrices ---------------------------------------------------------------------------------------------------------

_OPERANDS = ("A", "B", "b", "self", "input2", "LU", "LU_data", "LD", "pivots", "LU_pivots")


def _is_vector(op: Op, values: list[Any], i: int) -> bool:
    """Return whether a right-hand side is a vector, with one dimension less than a matrix, and must remain one."""
    if op.parameters[i] in ("pivots", "LU_pivots"):
        return True
    takes_vectors = op.name in ("_linalg_solve_ex", "linalg_lstsq")
    return i == 1 and takes_vectors and values[1].shape == values[0].shape[:-1]


def matrices(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Run an op that accepts batches of matrices in the last two dimensions."""
    values = [spread(v, b, size) if isinstance(v, _C.TensorBase) else v for v, b in zip(args, batched, strict=True)]
    vectors = [isinstance(v, _C.TensorBase) and _is_vector(op, values, i) for i, v in enumerate(values)]
    operands = [i for i, name in enumerate(op.parameters) if name in _OPERANDS]
    if values[0].dim() < 3 and size > 0:
        op([v[0] if isinstance(v, _C.TensorBase) else v for v in values])  # raises the op's own error: no matrix
    rank = max(values[i].dim() + vectors[i] for i in operands)
    for i in operands:  # give the operands batches that broadcast
        missing = rank - vectors[i] - values[i].dim()
        values[i] = values[i].reshape(size, *[1] * missing, *values[i].shape[1:]) if missing else values[i]
    results = op(values)
    if op.name == "linalg_lstsq":  # empty residuals or singular values need a batch dimension
        return tuple(r.reshape(size, 0) if r.shape == (0,) else r for r in results)
    return results


def plus(args: list[Any], batched: list[Any], product: Any) -> Any:
    """Return beta self + alpha product; if beta is 0, ``self`` is ignored, even NaN."""
    beta, alpha = args[3:5]
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    self, product = aligned([args[0], product], [batched[0], True])
    return product + (self if beta == 1 else self * beta)


# --- refusals: there is no answer for a batch -------------------------------------------------------------------------


def dynamic_shape(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Refuse an op whose results would have another shape for each example."""
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{op.name}. Hint: torch.where keeps the shape."
    )


def one_answer(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Refuse an op that returns one Python value, although each example has an answer of its own."""
    raise RuntimeError(
        f"Batching rule not implemented for aten::{op.name}. We could not generate a fallback. It looks like you're "
        "attempting to use a Tensor in some data-dependent control flow: there is one answer for each example."
    )
