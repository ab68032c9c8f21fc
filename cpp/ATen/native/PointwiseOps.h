// Mirrors: aten/src/ATen/native/PointwiseOps.h, aten/src/ATen/native/Lerp.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

using pointwise_fn = void (*)(TensorIterator&, const Scalar& value);

DECLARE_DISPATCH(pointwise_fn, addcmul_stub)
DECLARE_DISPATCH(pointwise_fn, addcdiv_stub)
DECLARE_DISPATCH(pointwise_fn, lerp_kernel_scalar_weight)
DECLARE_DISPATCH(void (*)(TensorIterator&), lerp_kernel_tensor_weight)

// For losses. inputs: self, target; backward: self, target, grad.
DECLARE_DISPATCH(void (*)(TensorIterator&, double beta), smooth_l1_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, double norm, double beta), smooth_l1_backward_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, double delta), huber_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, double norm, double delta), huber_backward_stub)
// inputs: self, target; backward: grad, self, target
DECLARE_DISPATCH(void (*)(TensorIterator&), binary_cross_entropy_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&), binary_cross_entropy_backward_stub)

} // namespace reftorch::at::native
