// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cuda/UnarySpecialOpsKernel.cu, aten/src/ATen/native/cuda/UnaryGammaKernels.cu
//
// The element functions of special functions of one number. The kernels of the CPU and of CUDA run the same text. Most
// formulas are in special/*.h and are computed in double for every dtype, except where only the rounding of the dtype
// itself decides whether a pole is reached.
#pragma once

#include <ATen/native/ElementMath.h>
#include <ATen/native/InDouble.h>
#include <ATen/native/Math.h>
#include <ATen/native/special/Bessel.h>
#include <ATen/native/special/Normal.h>

#include <cmath>
#include <limits>
#include <optional>

namespace reftorch::at::native {

// The logarithm of x / (1 - x). For a 16-bit float, 1 - x and the quotient are each rounded to 16 bits, as in PyTorch.
// With a number eps, x is first clamped to eps ... 1 - eps.
template <typename scalar_t>
struct LogitFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  static constexpr opmath_t kInf = std::numeric_limits<opmath_t>::infinity();
  scalar_t low, high;
  explicit LogitFunctor(std::optional<double> eps)
      : low(eps.value_or(-1) < 0 ? -kInf : static_cast<opmath_t>(*eps)), high(opmath_t(1) - opmath_t(low)) {}

  C10_HOST_DEVICE opmath_t operator()(scalar_t number) const {
    const scalar_t x = opmath_t(number) < opmath_t(low) ? low : opmath_t(number) > opmath_t(high) ? high : number;
    const auto rest = static_cast<scalar_t>(opmath_t(1) - opmath_t(x));
    return math::log(opmath_t(static_cast<scalar_t>(opmath_t(x) / opmath_t(rest))));
  }
};

// sin(pi a) / (pi a)
template <typename scalar_t>
struct SincFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    const opmath_t x = static_cast<opmath_t>(M_PI) * a;
    return a == 0 ? opmath_t(1) : std::sin(x) / x;
  }
};

template <typename scalar_t>
using ErfinvFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_erfinv>;

template <typename scalar_t>
struct LgammaFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::lgamma(a);
  }
};

template <typename scalar_t>
using DigammaFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_digamma>;

// The n-th derivative of digamma.
template <typename scalar_t>
struct PolygammaFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  int64_t n;
  explicit PolygammaFunctor(int64_t order) : n(order) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return n == 1 ? trigamma(a) : static_cast<opmath_t>(n == 0 ? calc_digamma(a) : calc_polygamma(a, n));
  }
};

// The logarithm of pi^(p (p - 1) / 4) times the product of Gamma(a - j / 2) for j = 0 ... p - 1.
template <typename scalar_t>
struct MvlgammaFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  int64_t p;
  double constant;
  explicit MvlgammaFunctor(int64_t dimensions)
      : p(dimensions), constant(0.25 * static_cast<double>(p * (p - 1)) * std::log(M_PI)) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    double sum = constant;
    for (int64_t j = 0; j < p; j++) {
      sum += std::lgamma(a - 0.5 * static_cast<double>(j));
    }
    return static_cast<opmath_t>(sum);
  }
};

template <typename scalar_t>
using I0Functor = InDouble<scalar_t, FloatingTypesAndReduced, calc_i0>;
template <typename scalar_t>
using I0eFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_i0e>;
template <typename scalar_t>
using I1Functor = InDouble<scalar_t, FloatingTypesAndReduced, calc_i1>;
template <typename scalar_t>
using I1eFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_i1e>;

// -a log(a)
template <typename scalar_t>
struct EntrFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  static constexpr opmath_t kInf = std::numeric_limits<opmath_t>::infinity();
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a > 0 ? -a * std::log(a) : a == 0 ? opmath_t(0) : a < 0 ? -kInf : a;
  }
};

// Only for float and double, as in PyTorch.
template <typename scalar_t>
using ErfcxFunctor = InDouble<scalar_t, FloatingTypes, calc_erfcx>;
template <typename scalar_t>
using LogNdtrFunctor = InDouble<scalar_t, FloatingTypes, calc_log_ndtr>;
template <typename scalar_t>
using NdtriFunctor = InDouble<scalar_t, FloatingTypes, calc_ndtri>;

} // namespace reftorch::at::native
