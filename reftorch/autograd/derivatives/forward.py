"""The ops whose tangents need no double backward.

Every op that has a formula has a tangent, which a backward pass through the formula computes
(:mod:`reftorch.autograd._jvp`). The ops in these lists do not need that pass.

Mirrors: tools/autograd/derivatives.yaml (``result: auto_linear``, ``result: auto_element_wise``)
Leaves out: forward formulas for single ops.
"""

__all__ = ["ELEMENT_WISE", "LINEAR"]

# The op is linear in all its tensors at once, except for `index`. So the op, called on the tangents, returns the
# tangent.
_LINEAR = """
    neg view _unsafe_view alias expand t transpose.int unsqueeze squeeze squeeze.dim squeeze.dims permute
    select.int slice.Tensor diagonal unbind.int split.Tensor split_with_sizes unsafe_split.Tensor
    unsafe_split_with_sizes unfold flip roll rot90 repeat tril triu diag_embed trace cat stack block_diag clone
    _to_copy as_strided sum sum.dim_IntList mean mean.dim cumsum select_backward slice_backward
    diagonal_backward unfold_backward add.Tensor sub.Tensor rsub.Tensor slice_scatter select_scatter
    diagonal_scatter as_strided_scatter gather scatter.src scatter_add index_select index_add t_ transpose_
    unsqueeze_ squeeze_ squeeze_.dim squeeze_.dims
"""

# An element of the result depends only on the elements of the arguments at the same position. So the Jacobian is
# diagonal and equals its transpose, and the formula is called on the tangent in place of the gradient.
_ELEMENT_WISE = """
    mul.Tensor div.Tensor div.Tensor_mode remainder.Tensor remainder.Scalar remainder.Scalar_Tensor fmod.Tensor
    fmod.Scalar addcmul addcdiv lerp.Scalar lerp.Tensor pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar
    rsub.Scalar exp expm1 exp2 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan deg2rad
    rad2deg sinh cosh asinh acosh atanh tanh tanh_backward sigmoid sigmoid_backward abs frac nan_to_num sign
    angle sgn floor ceil round round.decimals trunc relu threshold threshold_backward leaky_relu hardtanh hardsigmoid
    hardswish hardshrink softshrink gelu elu celu silu mish softplus maximum minimum fmax fmin atan2
    hypot logaddexp logaddexp2 xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other copysign.Tensor copysign.Scalar
    where.self clamp clamp_min clamp_max clamp.Tensor clamp_min.Tensor clamp_max.Tensor masked_fill.Scalar erf
    erfc erfinv lgamma digamma polygamma i0 special_i0e special_i1 special_i1e logit sinc copy_ fill.Scalar
    fill_.Scalar zero_
"""

LINEAR = frozenset(_LINEAR.split())
ELEMENT_WISE = frozenset(_ELEMENT_WISE.split())
