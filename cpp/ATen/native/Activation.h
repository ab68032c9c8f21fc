// Mirrors: aten/src/ATen/native/Activation.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

DECLARE_DISPATCH(void (*)(TensorIterator&), relu_stub)
// inputs: self, other. other where self > threshold, else value
DECLARE_DISPATCH(void (*)(TensorIterator&, const Scalar& threshold, const Scalar& value), threshold_stub)

} // namespace reftorch::at::native
