// Mirrors: aten/src/ATen/native/TensorCompare.h
//
// The stubs of the ops that choose between elements, and the clamp that the kernels of every device use.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>

namespace reftorch::at::native {

// If `a` is NaN, both comparisons are false and the result is NaN.
template <typename T>
C10_HOST_DEVICE T clamp(T a, T min, T max) {
  const T raised = a < min ? min : a;
  return max < raised ? max : raised;
}

// clamp for bounds that may be NaN: if any of the three is NaN, the result is NaN.
template <typename T>
C10_HOST_DEVICE T clamp_nan(T a, T min, T max) {
  return min != min ? min : max != max ? max : clamp(a, min, max);
}

DECLARE_DISPATCH(void (*)(TensorIterator&), where_kernel)
DECLARE_DISPATCH(void (*)(TensorIterator&), clamp_stub)
using clamp_scalar_fn = void (*)(TensorIterator&, const std::optional<Scalar>& min, const std::optional<Scalar>& max);
DECLARE_DISPATCH(clamp_scalar_fn, clamp_scalar_stub)

} // namespace reftorch::at::native
