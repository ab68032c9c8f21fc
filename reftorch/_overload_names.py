"""PyTorch's names of overloads that have another name in the Dispatcher here.

An out= variant is registered here with the op whose result it writes, and is named after it: ``max.dim_out``. PyTorch's
native_functions.yaml gives each a name of its own: ``max.dim_max``. Programs see PyTorch's names.

Mirrors: aten/src/ATen/native/native_functions.yaml, for names
"""

from __future__ import annotations

# For each op, pairs of the name here and the name in PyTorch. "" is the overload that is called `default`.
_NAMES = """
    _linalg_det: out result
    _linalg_eigh: out eigenvalues
    _linalg_slogdet: out sign
    _linalg_solve_ex: out result
    _linalg_svd: out U
    add copysign ldexp mul multiply sub subtract: Tensor_out out
    all any: out all_out, dim_out out
    div divide: Tensor_out out, Tensor_mode_out out_mode
    empty: default memory_format
    floor_divide_: default Tensor
    fractional_max_pool2d fractional_max_pool3d: out output
    geqrf: out a
    kthvalue mode topk: out values
    ldexp_: Tensor default
    linalg_cholesky_ex: out L
    linalg_eigh: out eigvals
    linalg_inv_ex: out inverse
    linalg_matrix_rank: tol_tensor_out out_tol_tensor
    linalg_pinv: rcond_tensor_out out_rcond_tensor
    linalg_svd svd: out U
    max: out unary_out, dim_out dim_max, other_out out
    mean: out dtype_out, dim_out out
    median nanmedian: dim_out dim_values
    min: out unary_out, dim_out dim_min, other_out out
    norm: ScalarOpt_dim_out out, ScalarOpt_dim_dtype_out dtype_out
    pow_: Tensor_Tensor Tensor, Tensor_Scalar Scalar
    prod: dim_int_out int_out
    qr: out Q
    range: step_out out
    sort: out values, stable_out values_stable
    sum: dim_IntList_out IntList_out
    triangular_solve: out X
    xlogy: Tensor_out OutTensor, Scalar_Self_out OutScalar_Self, Scalar_Other_out OutScalar_Other
"""
_IN_TORCH: dict[str, dict[str, str]] = {}
for _line in filter(str.strip, _NAMES.splitlines()):
    _ops, _, _pairs = _line.partition(": ")
    for _op in _ops.split():
        _IN_TORCH[f"aten::{_op}"] = dict(pair.split() for pair in _pairs.split(","))
_IN_CPP = {op: {there: here for here, there in names.items()} for op, names in _IN_TORCH.items()}


def in_torch(op: str, overload: str) -> str:
    """Return PyTorch's name of an overload, given the op and the name in the Dispatcher here.

    >>> in_torch("aten::max", "dim_out"), in_torch("aten::max", "dim"), in_torch("aten::empty", "")
    ('dim_max', 'dim', 'memory_format')
    """
    name = _IN_TORCH.get(op, {}).get(overload or "default", overload or "default")
    return "" if name == "default" else name


def in_cpp(op: str, overload: str) -> str:
    """Return the name in the Dispatcher here of an overload, given the op and PyTorch's name.

    >>> in_cpp("aten::max", "dim_max"), in_cpp("aten::empty", "memory_format"), in_cpp("aten::add", "Tensor")
    ('dim_out', '', 'Tensor')
    """
    name = _IN_CPP.get(op, {}).get(overload or "default", overload or "default")
    return "" if name == "default" else name


def qualified_in_cpp(name: str) -> str:
    """Return the full name in the Dispatcher here, such as ``aten::add.Tensor_out`` for ``aten::add.out``."""
    op, _, overload = name.partition(".")
    here = in_cpp(op, overload)
    return f"{op}.{here}" if here else op
