// Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp, aten/src/ATen/native/cuda/DilatedMaxPool2d.cu (their inner loops)
//
// The largest element of one window of max pooling and its place. The naive rung of the CPU and the kernel of CUDA run
// the same text.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/Pool.h>

#include <limits>

namespace reftorch::at::native::max_pool {

template <typename T>
C10_HOST_DEVICE constexpr T lowest_of() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

// The place that a window names if it sees no element: the last one that is near. A window with a gap may lie so.
C10_HOST_DEVICE inline int64_t place_near(const PoolShape& s, int64_t depth, int64_t row, int64_t column) {
  const auto inside = [&s](int d, int64_t i) { return i < s.input[d] - 1 ? i : s.input[d] - 1; };
  return (inside(0, depth) * s.input[1] + inside(1, row)) * s.input[2] + inside(2, column);
}

template <typename T>
struct Largest {
  T value;
  int64_t place;
};

// Returns the largest element of a window of one plane of the input, `x`, and its place in the plane. Of several equal
// elements, the first one is returned. NaN counts as larger than every number.
template <typename scalar_t>
C10_HOST_DEVICE Largest<opmath_type<scalar_t>> largest_in_window(const scalar_t* x, const PoolShape& s,
                                                                 const PoolWindow& depths, const PoolWindow& rows,
                                                                 const PoolWindow& columns) {
  using opmath_t = opmath_type<scalar_t>;
  Largest<opmath_t> best{lowest_of<opmath_t>(), place_near(s, depths.begin, rows.begin, columns.begin)};
  for (int64_t d = depths.begin; d < depths.end; d += depths.step) {
    for (int64_t h = rows.begin; h < rows.end; h += rows.step) {
      const int64_t row = (d * s.input[1] + h) * s.input[2];
      for (int64_t w = columns.begin; w < columns.end; w += columns.step) {
        const opmath_t value = x[row + w];
        if (value > best.value || value != value) {
          best = {value, row + w};
        }
      }
    }
  }
  return best;
}

} // namespace reftorch::at::native::max_pool
