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
DECLARE_DISPATCH(structured_binary_fn, fmod_stub)
DECLARE_DISPATCH(structured_binary_fn, maximum_stub)
DECLARE_DISPATCH(structured_binary_fn, minimum_stub)
DECLARE_DISPATCH(structured_binary_fn, fmax_stub)
DECLARE_DISPATCH(structured_binary_fn, fmin_stub)
DECLARE_DISPATCH(structured_binary_fn, atan2_stub)
DECLARE_DISPATCH(structured_binary_fn, hypot_stub)
DECLARE_DISPATCH(structured_binary_fn, xlogy_stub)
DECLARE_DISPATCH(structured_binary_fn, logaddexp_stub)
DECLARE_DISPATCH(structured_binary_fn, logaddexp2_stub)
DECLARE_DISPATCH(structured_binary_fn, copysign_stub)
DECLARE_DISPATCH(structured_binary_fn, nextafter_stub)
DECLARE_DISPATCH(structured_binary_fn, heaviside_stub)
DECLARE_DISPATCH(structured_binary_fn, ldexp_stub) // for integer exponents
DECLARE_DISPATCH(structured_binary_fn, gcd_stub)
DECLARE_DISPATCH(structured_binary_fn, lcm_stub)
DECLARE_DISPATCH(structured_binary_fn, igamma_stub)
DECLARE_DISPATCH(structured_binary_fn, igammac_stub)
DECLARE_DISPATCH(structured_binary_fn, special_zeta_stub)
DECLARE_DISPATCH(structured_binary_fn, special_xlog1py_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_and_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_or_stub)
DECLARE_DISPATCH(structured_binary_fn, bitwise_xor_stub)
DECLARE_DISPATCH(structured_binary_fn, lshift_stub)
DECLARE_DISPATCH(structured_binary_fn, rshift_stub)
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

// out = f(self, other), computed in the promoted dtype.
template <auto& stub>
void binary_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// The overload that takes a number as its second operand. In type promotion the number counts as a Python number does.
using binary_out_fn = void (*)(const Tensor& self, const Tensor& other, Tensor& out);
template <binary_out_fn fn>
void tensor_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  fn(self, detail::wrapped_scalar_tensor(other), out);
}
template <binary_out_fn fn>
void scalar_tensor_out(const Scalar& self, const Tensor& other, Tensor& out) {
  fn(detail::wrapped_scalar_tensor(self), other, out);
}

} // namespace reftorch::at::native
