// Mirrors: aten/src/ATen/native/Lerp.h
//
// The linear interpolation that the kernels of every device use; its stubs are in PointwiseOps.h.
#pragma once

#include <c10/macros/Macros.h>

namespace reftorch::at::native {

// Interpolates between self and end. The sum starts at the nearer end, so that weight 1 gives exactly `end`.
template <typename T>
C10_HOST_DEVICE T lerp(T self, T end, T weight) {
  const T difference = end - self;
  return (weight < 0 ? -weight : weight) < T(0.5) ? self + weight * difference : end - difference * (T(1) - weight);
}

} // namespace reftorch::at::native
