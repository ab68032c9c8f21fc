// Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp, aten/src/ATen/native/cuda/TensorCompare.cu
//
// The element functions of ops that choose between elements. The kernels of the CPU and of CUDA run the same text.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/TensorCompare.h>

#include <optional>

namespace reftorch::at::native {

// Chooses between two elements, which are only moved, so only their width matters: word_t is an unsigned integer.
template <typename word_t>
struct WhereFunctor {
  C10_HOST_DEVICE word_t operator()(uint8_t condition, word_t self, word_t other) const {
    return condition != 0 ? self : other;
  }
};

// A missing bound becomes a value that no element exceeds.
template <typename scalar_t>
struct ClampScalarFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t min, max;
  ClampScalarFunctor(const std::optional<Scalar>& least, const std::optional<Scalar>& most)
      : min(least.has_value() ? opmath_t(least->to<scalar_t>()) : lower_bound<opmath_t>()),
        max(most.has_value() ? opmath_t(most->to<scalar_t>()) : upper_bound<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return clamp(a, min, max);
  }
};

template <typename scalar_t>
struct ClampFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t min, opmath_t max) const {
    return clamp_nan(a, min, max);
  }
};

} // namespace reftorch::at::native
