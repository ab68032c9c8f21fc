// Mirrors: aten/src/ATen/NumericUtils.h, aten/src/ATen/native/cpu/SortingKernel.cpp (KeyValueCompAsc)
//
// The order of numbers in which NaN is the largest. This is a strict weak order, as sorting needs; `<` alone is none
// where NaN occurs.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/macros/Macros.h>

namespace reftorch::at::native {

template <typename T>
C10_HOST_DEVICE inline bool is_nan(T value) {
  const opmath_type<T> x = value;
  return x != x;
}

template <typename T>
C10_HOST_DEVICE inline bool less_nan_last(T a, T b) {
  return (!is_nan(a) && is_nan(b)) || opmath_type<T>(a) < opmath_type<T>(b);
}

template <typename T>
C10_HOST_DEVICE inline bool greater_nan_first(T a, T b) {
  return (is_nan(a) && !is_nan(b)) || opmath_type<T>(a) > opmath_type<T>(b);
}

} // namespace reftorch::at::native
