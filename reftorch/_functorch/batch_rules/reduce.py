"""Batching rules of reductions.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
Leaves out: nothing.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import RULES, Op, batch_rule, call, shifted, spread
from reftorch._functorch.batch_rules.pointwise import aligned

_fn = _C._VariableFunctions

# --- over some dimensions, or all -------------------------------------------------------------------------------------

_SOME = """
    sum.dim_IntList mean.dim nansum amax amin logsumexp var.correction std.correction var_mean.correction
    std_mean.correction norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype all.dims any.dims
"""


def _some(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
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


for _name in _SOME.split():
    RULES[_name] = _some

# --- over one dimension -----------------------------------------------------------------------------------------------

_ONE = "prod.dim_int all.dim any.dim max.dim min.dim median.dim nanmedian.dim mode kthvalue"


def _one(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    at, rank = op.position("dim"), args[0].dim() - 1
    args[at] = shifted(args[at], rank)
    if rank > 0:
        return op(args)
    args[0] = args[0].unsqueeze(1)
    if op.name == "topk":
        args[1] = 1  # a single number has only itself to return, whatever k is
    return _reshaped(op(args), size)


for _name in _ONE.split():
    RULES[_name] = _one


@batch_rule("argmax", "argmin", "aminmax", "linalg_vector_norm")
def flat_without_dim(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
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
        return _some(op, args, batched, size)
    return _one(op, args, batched, size)


# --- over everything --------------------------------------------------------------------------------------------------


def _everything(name: str) -> Any:
    """Make the rule of an overload without ``dim`` from the overload with ``dim``."""

    def rule(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
        if "median" in name and args[0].numel() == 0:
            return args[0].new_full((size,), math.nan)
        result = call(name, [args[0].reshape(size, -1), *_REST[name](args)])
        return result[0] if isinstance(result, tuple) else result

    return rule


_REST = {
    "sum.dim_IntList": lambda args: ([1], False, args[1]),
    "mean.dim": lambda args: ([1], False, args[1]),
    "prod.dim_int": lambda args: (1, False, args[1]),
    "amax": lambda args: ([1], False),
    "amin": lambda args: ([1], False),
    "all.dim": lambda args: (1, False),
    "any.dim": lambda args: (1, False),
    "median.dim": lambda args: (1, False),
    "nanmedian.dim": lambda args: (1, False),
    "norm.ScalarOpt_dim": lambda args: (args[1], [1], False),
    "norm.ScalarOpt_dim_dtype": lambda args: (args[1], [1], False, args[2]),
}
for _name, _by in {
    "sum": "sum.dim_IntList", "mean": "mean.dim", "prod": "prod.dim_int", "max": "amax", "min": "amin",
    "all": "all.dim", "any": "any.dim", "median": "median.dim", "nanmedian": "nanmedian.dim",
    "norm.Scalar": "norm.ScalarOpt_dim", "norm.ScalarOpt_dtype": "norm.ScalarOpt_dim_dtype",
}.items():  # fmt: skip
    RULES[_name] = _everything(_by)


@batch_rule("dist")
def dist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    difference = left - right
    return difference.reshape(size, -1).norm(args[2], 1)


@batch_rule("trace")
def trace(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return args[0].diagonal(0, 1, 2).sum(1)


# --- losses: a mean or sum over each example --------------------------------------------------------------------------


def _reduced(loss: Any, reduction: int) -> Any:
    if reduction == 0:
        return loss
    flat = loss.reshape(loss.size(0), -1)
    return flat.mean(1) if reduction == 1 else flat.sum(1)


@batch_rule("mse_loss")
def mse_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    prediction, target = aligned(args[:2], batched[:2])
    return _reduced((prediction - target).square(), args[2])


@batch_rule("mse_loss_backward")
def mse_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, prediction, target = aligned(args[:3], batched[:3])
    product = grad * (prediction - target)
    return product * (2 / (product.numel() // size) if args[3] == 1 else 2)


@batch_rule("smooth_l1_loss", "huber_loss")
def straight_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    prediction, target = aligned(args[:2], batched[:2])
    return _reduced(op([prediction, target, 0, args[3]]), args[2])


@batch_rule("smooth_l1_loss_backward", "huber_loss_backward")
def straight_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    slope = op([*aligned(args[:3], batched[:3]), 0, args[4]])
    return slope / (slope.numel() // size) if args[3] == 1 else slope


# --- normalization ----------------------------------------------------------------------------------------------------


@batch_rule("native_layer_norm")
def native_layer_norm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    input, shape, weight, bias, eps = args
    if not batched[2] and not batched[3]:
        return op(args)
    input = spread(input, batched[0], size)
    result, mean, rstd = op([input, shape, None, None, eps])
    result, weight, bias = aligned([result, weight, bias], [True, *batched[2:4]])
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return result.to(input.dtype), mean, rstd


@batch_rule("native_layer_norm_backward")
def native_layer_norm_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    shape, weight, bias, wanted = args[2], args[5], args[6], args[7]
    grad, input, mean, rstd = (spread(args[i], batched[i], size) for i in (0, 1, 3, 4))
    results: list[Any] = [None, None, None]
    if wanted[0]:
        of_normal = grad
        if batched[5]:
            of_normal, factor = aligned([grad, weight], [True, True])
            of_normal = (of_normal * factor).to(grad.dtype)
        factor = None if batched[5] else weight
        results[0] = op([of_normal, input, shape, mean, rstd, factor, None, [True, False, False]])[0]
    outer = list(range(1, input.dim() - len(shape)))
    if wanted[1]:
        of_weight = grad * ((input - mean) * rstd)
        results[1] = (of_weight.sum(outer) if outer else of_weight).to(weight.dtype)
    if wanted[2]:
        results[2] = (grad.sum(outer) if outer else grad).to(bias.dtype)
    return tuple(results)


# --- along a dimension that is kept -----------------------------------------------------------------------------------

_ALONG = """
    cumsum cumprod logcumsumexp cummax cummin sort sort.stable topk _softmax _log_softmax
"""
for _name in _ALONG.split():
    RULES[_name] = _one


@batch_rule("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, output = (spread(v, b, size) for v, b in zip(args[:2], batched[:2], strict=True))
    rank = grad.dim() - 1
    dim = shifted(args[2], rank)
    if rank > 0:
        return op([grad, output, dim, args[3]])
    return op([grad.unsqueeze(1), output.unsqueeze(1), dim, args[3]]).squeeze(1)


@batch_rule("renorm")
def renorm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, p, dim, maxnorm = args
    rows = self.movedim(shifted(dim, self.dim() - 1), 1)
    flat = _fn.renorm(rows.reshape(size * rows.size(1), -1), p, 0, maxnorm)
    return flat.reshape(rows.shape).movedim(1, shifted(dim, self.dim() - 1))
