// Mirrors: aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp, aten/src/ATen/native/cuda/PointwiseOpsKernel.cu, aten/src/ATen/native/cuda/Lerp.cu
//
// The element functions of three operands, of interpolation, and of the losses of pairs of elements. The kernels of the
// CPU and of CUDA run the same text.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/ElementMath.h>
#include <ATen/native/Lerp.h>
#include <c10/core/Scalar.h>

#include <cmath>

namespace reftorch::at::native {

template <typename scalar_t>
struct AddcmulFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t value;
  explicit AddcmulFunctor(const Scalar& value) : value(value.to<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t t1, opmath_t t2) const {
    return self + value * t1 * t2;
  }
};

template <typename scalar_t>
struct AddcdivFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t value;
  explicit AddcdivFunctor(const Scalar& value) : value(value.to<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t t1, opmath_t t2) const {
    return self + value * t1 / t2;
  }
};

template <typename scalar_t>
struct LerpScalarFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t weight;
  explicit LerpScalarFunctor(const Scalar& weight) : weight(weight.to<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t end) const {
    return lerp(self, end, weight);
  }
};

template <typename scalar_t>
struct LerpTensorFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t end, opmath_t weight) const {
    return lerp(self, end, weight);
  }
};

// --- losses: each is a function of the difference d = self - target --------------------------------------------------

// d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.
template <typename scalar_t>
struct SmoothL1Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  double beta;
  explicit SmoothL1Functor(double beta) : beta(beta) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t target) const {
    const opmath_t d = std::fabs(self - target);
    return d < opmath_t(beta) ? opmath_t(0.5) * d * d / opmath_t(beta) : d - opmath_t(0.5 * beta);
  }
};

// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2).
template <typename scalar_t>
struct HuberFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  double delta;
  explicit HuberFunctor(double delta) : delta(delta) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t target) const {
    const opmath_t d = std::fabs(self - target);
    return d <= opmath_t(delta) ? opmath_t(0.5) * d * d : opmath_t(delta) * (d - opmath_t(0.5 * delta));
  }
};

// The derivative of both: slope * d where -end < d < end, else top with the sign of d. All numbers are those of the
// element type, so that a 16-bit float is converted once.
template <typename scalar_t>
struct StraightLossBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t slope, end, top;
  StraightLossBackwardFunctor(double slope, double end, double top)
      : slope(static_cast<opmath_t>(slope)), end(static_cast<opmath_t>(end)), top(static_cast<opmath_t>(top)) {}

  C10_HOST_DEVICE scalar_t operator()(scalar_t self, scalar_t target, scalar_t grad) const {
    const opmath_t d = opmath_t(self) - opmath_t(target);
    return (d <= -end ? -top : d >= end ? top : slope * d) * opmath_t(grad);
  }
};

template <typename scalar_t>
struct SmoothL1BackwardFunctor : StraightLossBackwardFunctor<scalar_t> {
  SmoothL1BackwardFunctor(double norm, double beta) : StraightLossBackwardFunctor<scalar_t>(norm / beta, beta, norm) {}
};

template <typename scalar_t>
struct HuberBackwardFunctor : StraightLossBackwardFunctor<scalar_t> {
  HuberBackwardFunctor(double norm, double delta) : StraightLossBackwardFunctor<scalar_t>(norm, delta, norm * delta) {}
};

// -(y log x + (1 - y) log(1 - x)). A logarithm below -100 becomes -100, so that a probability of 0 gives a finite loss.
template <typename scalar_t>
struct BinaryCrossEntropyFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  static constexpr opmath_t kLeast = -100;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t y) const {
    const opmath_t log_of_rest = std::log1p(-x), log_of_x = std::log(x);
    return (y - opmath_t(1)) * (log_of_rest < kLeast ? kLeast : log_of_rest) -
           y * (log_of_x < kLeast ? kLeast : log_of_x);
  }
};

// grad (x - y) / (x (1 - x))
template <typename scalar_t>
struct BinaryCrossEntropyBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x, opmath_t y) const {
    const opmath_t spread = (opmath_t(1) - x) * x, least = opmath_t(1e-12f);
    return grad * (x - y) / (spread < least ? least : spread);
  }
};

} // namespace reftorch::at::native
