// Mirrors: aten/src/ATen/native/TensorCompare.h
//
// Choosing between elements: the stubs, and the clamp that the kernels of every device use.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>

namespace reftorch::at::native {

// NaN in `a` fails both comparisons and stays.
template <typename T>
C10_HOST_DEVICE T clamp(T a, T min, T max) {
  const T raised = a < min ? min : a;
  return max < raised ? max : raised;
}

// The same for bounds that may be NaN: the result is NaN, too.
template <typename T>
C10_HOST_DEVICE T clamp_nan(T a, T min, T max) {
  return min != min ? min : max != max ? max : clamp(a, min, max);
}

DECLARE_DISPATCH(void (*)(TensorIterator&), where_kernel)
DECLARE_DISPATCH(void (*)(TensorIterator&), clamp_stub)
using clamp_scalar_fn = void (*)(TensorIterator&, const std::optional<Scalar>& min, const std::optional<Scalar>& max);
DECLARE_DISPATCH(clamp_scalar_fn, clamp_scalar_stub)

} // namespace reftorch::at::native
