// Mirrors: aten/src/ATen/native/Fill.h
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

using fill_fn = void (*)(TensorIterator& iter, const Scalar& value);
DECLARE_DISPATCH(fill_fn, fill_stub)
// Sets all bits of a dense tensor to zero, which is 0 in every dtype.
using zero_fn = void (*)(const Tensor& self);
DECLARE_DISPATCH(zero_fn, zero_stub)

// Returns the value of a tensor with one element, for a kernel that takes a number. Kernels of the meta device read
// nothing, so they get 0.
inline Scalar number_for_kernel(const Tensor& value) {
  return value.device().is_meta() ? Scalar(0) : detail::number_in(value);
}

} // namespace reftorch::at::native
