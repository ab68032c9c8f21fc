"""Batching rules of ops that compute each element by itself, with broadcasting.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp, aten/src/ATen/functorch/BatchRulesBinaryOps.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import RULES, Op, batch_rule, logical_rank, spread

_ONE = """
    relu neg abs sign sgn signbit bitwise_not logical_not sqrt rsqrt reciprocal exp expm1 exp2 log log1p log2 log10 sin
    cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid angle deg2rad rad2deg floor ceil round
    round.decimals trunc frac frexp.Tensor nan_to_num logit sinc erf erfc erfinv lgamma digamma polygamma mvlgamma i0
    special_i0e special_i1 special_i1e isposinf isneginf isreal _to_copy alias view.dtype clamp clamp_min
    clamp_max pow.Tensor_Scalar pow.Scalar rsub.Scalar remainder.Scalar remainder.Scalar_Tensor fmod.Scalar
    xlogy.Scalar_Self xlogy.Scalar_Other copysign.Scalar eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar
    bitwise_and.Scalar bitwise_and.Scalar_Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor bitwise_xor.Scalar
    bitwise_xor.Scalar_Tensor bitwise_left_shift.Tensor_Scalar bitwise_left_shift.Scalar_Tensor
    bitwise_right_shift.Tensor_Scalar bitwise_right_shift.Scalar_Tensor isin.Tensor_Scalar
    fill.Scalar tril triu zeros_like ones_like full_like empty_like
    special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0
    special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
    special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_entr special_erfcx special_log_ndtr
    special_ndtri special_xlog1py.self_scalar special_xlog1py.other_scalar special_zeta.self_scalar
    special_zeta.other_scalar threshold
    celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid_forward mish silu softplus softshrink
"""
_SEVERAL = """
    add.Tensor sub.Tensor rsub.Tensor mul.Tensor div.Tensor div.Tensor_mode floor_divide remainder.Tensor fmod.Tensor
    maximum minimum fmax fmin atan2 hypot logaddexp logaddexp2 xlogy.Tensor copysign.Tensor nextafter heaviside
    ldexp.Tensor gcd lcm pow.Tensor_Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor logical_and
    logical_or logical_xor bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_left_shift.Tensor
    bitwise_right_shift.Tensor addcmul addcdiv lerp.Scalar lerp.Tensor where.self clamp.Tensor clamp_min.Tensor
    clamp_max.Tensor masked_fill.Scalar sigmoid_backward tanh_backward threshold_backward igamma igammac
    special_xlog1py special_zeta
    elu_backward gelu_backward hardshrink_backward hardsigmoid_backward hardswish_backward hardtanh_backward
    leaky_relu_backward mish_backward silu_backward softplus_backward softshrink_backward
"""
# Each name has three overloads: a degree per element, one degree for all, and one number at several degrees.
_POLYNOMIALS = """
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
    hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w
"""


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


def _one(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op(args)


def _several(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op(aligned(_promoted(args, batched), batched))


for _name in _ONE.split():
    RULES[_name] = _one
for _name in _SEVERAL.split():
    RULES[_name] = _several
for _name in _POLYNOMIALS.split():
    RULES["special_" + _name] = _several
    RULES[f"special_{_name}.n_scalar"] = RULES[f"special_{_name}.x_scalar"] = _one


@batch_rule("log_sigmoid_backward")
def log_sigmoid_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([spread(v, b, size) for v, b in zip(args, batched, strict=True)])


@batch_rule("copy_", "fill_.Tensor")
def copy_(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    destination, source = aligned(args[:2], batched[:2])
    return source.expand(destination.shape)


@batch_rule("clone")
def clone(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    if args[1] not in (None, _C.preserve_format, _C.contiguous_format):  # it would apply to the whole batch
        raise RuntimeError(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format "
            f"or torch.contiguous_format (got {args[1]})"
        )
    return op(args)


@batch_rule("masked_fill.Tensor")
def masked_fill(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, mask, value = aligned(args, batched)
    return _C._VariableFunctions.where(mask, value.to(self.dtype), self)


@batch_rule("fill_.Scalar")
def fill_(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return _C._VariableFunctions.full_like(args[0], args[1])


@batch_rule("zero_")
def zero_(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return _C._VariableFunctions.zeros_like(args[0])


@batch_rule("bucketize.Tensor")
def bucketize(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    if not batched[1]:
        return op(args)
    values = spread(args[0], batched[0], size)
    flat = _C._VariableFunctions.searchsorted(args[1], values.reshape(size, -1), out_int32=args[2], right=args[3])
    return flat.reshape(values.shape)
