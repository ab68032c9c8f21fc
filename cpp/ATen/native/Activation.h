// Mirrors: aten/src/ATen/native/Activation.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

DECLARE_DISPATCH(void (*)(TensorIterator&), relu_stub)
// inputs: self, grad. grad where self > threshold, else 0
DECLARE_DISPATCH(void (*)(TensorIterator&, const Scalar& threshold), threshold_backward_stub)

} // namespace reftorch::at::native
