// Mirrors: aten/src/ATen/native/BinaryOps.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

using structured_binary_fn = void (*)(TensorIterator&);
using structured_binary_fn_alpha = void (*)(TensorIterator&, const Scalar& alpha);

DECLARE_DISPATCH(structured_binary_fn_alpha, add_stub)
DECLARE_DISPATCH(structured_binary_fn, mul_stub)
DECLARE_DISPATCH(structured_binary_fn, div_true_stub)
DECLARE_DISPATCH(structured_binary_fn, div_trunc_stub)
DECLARE_DISPATCH(structured_binary_fn, div_floor_stub)
DECLARE_DISPATCH(structured_binary_fn, remainder_stub)
DECLARE_DISPATCH(structured_binary_fn, maximum_stub)
DECLARE_DISPATCH(structured_binary_fn, minimum_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_and_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_or_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_xor_stub)
DECLARE_DISPATCH(structured_binary_fn, logical_and_stub)
DECLARE_DISPATCH(structured_binary_fn, logical_or_stub)
DECLARE_DISPATCH(structured_binary_fn, logical_xor_stub)
DECLARE_DISPATCH(structured_binary_fn, eq_stub)
DECLARE_DISPATCH(structured_binary_fn, ne_stub)
DECLARE_DISPATCH(structured_binary_fn, lt_stub)
DECLARE_DISPATCH(structured_binary_fn, le_stub)
DECLARE_DISPATCH(structured_binary_fn, gt_stub)
DECLARE_DISPATCH(structured_binary_fn, ge_stub)
DECLARE_DISPATCH(structured_binary_fn, sigmoid_backward_stub)
DECLARE_DISPATCH(structured_binary_fn, tanh_backward_stub)
DECLARE_DISPATCH(structured_binary_fn, mse_stub)
// inputs: self, target, grad
DECLARE_DISPATCH(structured_binary_fn_alpha, mse_backward_stub)

} // namespace reftorch::at::native
