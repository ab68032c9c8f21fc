// Mirrors: aten/src/ATen/native/cpu/PowKernel.cpp, aten/src/ATen/native/cuda/PowKernel.cu
//
// The element functions of powers. The kernels of the CPU and of CUDA run the same text.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/ElementMath.h>
#include <ATen/native/Pow.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <c10/core/Scalar.h>

#include <cmath>

namespace reftorch::at::native {

template <typename scalar_t>
struct PowFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return powi(a, b);
    } else {
      return math::pow(a, b);
    }
  }
};

// One exponent for all elements.
template <typename scalar_t>
struct PowScalarFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t exponent;
  explicit PowScalarFunctor(const Scalar& exponent) {
    if constexpr (std::is_integral_v<scalar_t>) {
      this->exponent = exponent.to<scalar_t>();
    } else {
      this->exponent = static_cast<opmath_t>(exponent.toDouble());
    }
  }

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return powi(a, exponent);
    } else {
      return math::pow(a, exponent);
    }
  }
};

// Squares, cubes, square roots and reciprocals need no pow().
template <typename scalar_t>
struct SquareFunctor {
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a * a;
  }
};

template <typename scalar_t>
struct CubeFunctor {
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a * a * a;
  }
};

// Calls run(functor) with the functor of the exponent.
template <typename scalar_t, typename Run>
void with_pow_functor(const Scalar& exponent, const Run& run) {
  if constexpr (!std::is_integral_v<scalar_t>) {
    const double n = exponent.toDouble();
    if (n == 2) {
      return run(SquareFunctor<scalar_t>());
    } else if (n == 3) {
      return run(CubeFunctor<scalar_t>());
    } else if (n == 0.5) {
      return run(SqrtFunctor<scalar_t>());
    } else if (n == -0.5) {
      return run(RsqrtFunctor<scalar_t>());
    } else if (n == -1) {
      return run(ReciprocalFunctor<scalar_t>());
    }
  }
  run(PowScalarFunctor<scalar_t>(exponent));
}

} // namespace reftorch::at::native
