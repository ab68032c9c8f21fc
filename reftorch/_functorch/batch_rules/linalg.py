"""Batching rules of matrix products, and of the ops that accept batches of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import (
    RULES,
    Op,
    batch_rule,
    call,
    check_ranks,
    logical_rank,
    shifted,
    spread,
)
from reftorch._functorch.batch_rules.pointwise import aligned

_fn = _C._VariableFunctions

# --- products ---------------------------------------------------------------------------------------------------------


@batch_rule("mm", "bmm")
def mm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (2, 2) if op.name == "mm" else (3, 3))
    return _fn.matmul(*args)


@batch_rule("mv")
def mv(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (2, 1))
    return _fn.matmul(args[0], args[1].unsqueeze(-1)).squeeze(-1)


@batch_rule("dot", "vdot")
def dot(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (1, 1))
    return _fn.matmul(args[0].unsqueeze(-2), args[1].unsqueeze(-1)).squeeze((-2, -1))


def _plus(args: list[Any], batched: list[Any], product: Any) -> Any:
    """Return beta self + alpha product; if beta is 0, ``self`` is ignored, even NaN."""
    beta, alpha = args[3:5]
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    self, product = aligned([args[0], product], [batched[0], True])
    return product + (self if beta == 1 else self * beta)


@batch_rule("addmm", "baddbmm")
def addmm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (2, 2) if op.name == "addmm" else (3, 3))
    product = _fn.matmul(args[1], args[2])
    return _plus(args, batched, spread(product, batched[1] or batched[2], size))


@batch_rule("addbmm")
def addbmm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (3, 3))
    product = _fn.matmul(args[1], args[2]).sum(-3)
    return _plus(args, batched, spread(product, batched[1] or batched[2], size))


@batch_rule("addmv")
def addmv(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (2, 1))
    product = _fn.matmul(args[1], args[2].unsqueeze(-1)).squeeze(-1)
    return _plus(args, batched, spread(product, batched[1] or batched[2], size))


@batch_rule("addr")
def addr(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (1, 1))
    product = args[1].unsqueeze(-1) * args[2].unsqueeze(-2)
    return _plus(args, batched, spread(product, batched[1] or batched[2], size))


# --- factorizations: the last two dimensions are the matrix -----------------------------------------------------------

_MATRICES = """
    linalg_lu_factor_ex linalg_lu lu_unpack linalg_lu_solve _linalg_solve_ex linalg_inv_ex _linalg_det _linalg_slogdet
    linalg_pinv.atol_rtol_tensor linalg_matrix_exp linalg_cholesky_ex cholesky_solve cholesky_inverse
    linalg_solve_triangular triangular_solve linalg_qr geqrf _linalg_svd _linalg_eigh linalg_lstsq
    linalg_ldl_factor_ex linalg_ldl_solve
"""


_OPERANDS = ("A", "B", "b", "self", "input2", "LU", "LU_data", "LD", "pivots", "LU_pivots")


def _is_vector(op: Op, values: list[Any], i: int) -> bool:
    """Return whether a right-hand side is a vector, with one dimension less than a matrix, and must remain one."""
    if op.parameters[i] in ("pivots", "LU_pivots"):
        return True
    takes_vectors = op.name in ("_linalg_solve_ex", "linalg_lstsq")
    return i == 1 and takes_vectors and values[1].shape == values[0].shape[:-1]


def _matrices(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
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


for _name in _MATRICES.split():
    RULES[_name] = _matrices


@batch_rule("linalg_cross")
def cross(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = max(logical_rank(v, b) for v, b in zip(args[:2], batched[:2], strict=True))
    left, right = aligned(args[:2], batched[:2])
    left, right = (spread(v, b, size) for v, b in zip((left, right), batched[:2], strict=True))
    return op([left, right, shifted(args[2], rank)])


@batch_rule("_cdist_forward")
def cdist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    left, right = (spread(v, b, size) for v, b in zip((left, right), batched[:2], strict=True))
    return call(op.name, [left, right, *args[2:]])
