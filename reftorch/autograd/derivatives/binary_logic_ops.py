"""Marks of ops that have no derivative: comparisons, logical and bitwise ops, and shifts.

Mirrors: tools/autograd/derivatives.yaml (logical_and)
Leaves out: in-place forms of comparisons on floats, whose gradient is zero.
"""

from reftorch.autograd.derivatives import non_differentiable

for _op in ("eq", "ne", "lt", "le", "gt", "ge"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Scalar")
non_differentiable("logical_and", "logical_or", "logical_xor")
for _op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Scalar", f"{_op}.Scalar_Tensor")
for _op in ("bitwise_left_shift", "bitwise_right_shift"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Tensor_Scalar", f"{_op}.Scalar_Tensor")
