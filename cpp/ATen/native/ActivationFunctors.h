// Mirrors: aten/src/ATen/native/cpu/Activation.cpp, aten/src/ATen/native/cuda/ActivationThresholdKernel.cu and kin
//
// The element functions of activation functions and of their derivatives. The kernels of the CPU and of CUDA run the
// same text; `dtypes` says which element types the op accepts. The operands of a derivative are grad and x; those of
// leaky_relu_backward are x and grad.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/Activation.h>
#include <ATen/native/ElementMath.h>
#include <c10/core/Scalar.h>

#include <cmath>

namespace reftorch::at::native {

// --- piecewise linear ------------------------------------------------------------------------------------------------

template <typename scalar_t>
struct ReluFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a < opmath_t(0) ? opmath_t(0) : a;
  }
};

template <typename scalar_t>
struct ThresholdFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t threshold, value;
  ThresholdFunctor(const Scalar& threshold, const Scalar& value)
      : threshold(threshold.to<opmath_t>()), value(value.to<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t other) const {
    return self <= threshold ? value : other;
  }
};

template <typename scalar_t>
struct LeakyReluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t slope;
  explicit LeakyReluFunctor(const Scalar& slope) : slope(static_cast<opmath_t>(slope.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x > opmath_t(0) ? x : x * slope;
  }
};

template <typename scalar_t>
struct LeakyReluBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t slope;
  explicit LeakyReluBackwardFunctor(const Scalar& slope) : slope(static_cast<opmath_t>(slope.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t grad) const {
    return x > opmath_t(0) ? grad : grad * slope;
  }
};

template <typename scalar_t>
struct PreluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t weight) const {
    return x > opmath_t(0) ? x : weight * x;
  }
};

template <typename scalar_t>
struct PreluBackwardSelfFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t weight, opmath_t grad) const {
    return x > opmath_t(0) ? grad : weight * grad;
  }
};

template <typename scalar_t>
struct PreluBackwardWeightFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t grad) const {
    return x > opmath_t(0) ? opmath_t(0) : x * grad;
  }
};

template <typename scalar_t>
struct HardtanhBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t min, max;
  HardtanhBackwardFunctor(const Scalar& min, const Scalar& max)
      : min(static_cast<opmath_t>(min.toDouble())), max(static_cast<opmath_t>(max.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    return (x <= min) | (x >= max) ? opmath_t(0) : grad;
  }
};

// x + 3 clamped to [0, 6]; NaN stays NaN.
template <typename T>
C10_HOST_DEVICE VECTOR_MATH T relu6_of_x_plus_3(T x) {
  const T sum = x + T(3);
  return sum < T(0) ? T(0) : sum > T(6) ? T(6) : sum;
}

template <typename scalar_t>
struct HardsigmoidFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return relu6_of_x_plus_3(x) / opmath_t(6);
  }
};

template <typename scalar_t>
struct HardsigmoidBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    return (x > opmath_t(-3)) & (x < opmath_t(3)) ? grad * opmath_t(1. / 6.) : opmath_t(0);
  }
};

template <typename scalar_t>
struct HardswishFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x * relu6_of_x_plus_3(x) / opmath_t(6);
  }
};

template <typename scalar_t>
struct HardswishBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t inside = grad * (x / opmath_t(3) + opmath_t(0.5));
    return x <= opmath_t(-3) ? opmath_t(0) : x < opmath_t(3) ? inside : grad;
  }
};

template <typename scalar_t>
struct HardshrinkFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t lambd;
  explicit HardshrinkFunctor(const Scalar& lambd) : lambd(static_cast<opmath_t>(lambd.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return (x >= -lambd) & (x <= lambd) ? opmath_t(0) : x;
  }
};

// Between the two slopes the result is 0, or NaN where x is NaN.
template <typename scalar_t>
struct SoftshrinkFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t lambd;
  explicit SoftshrinkFunctor(const Scalar& lambd) : lambd(static_cast<opmath_t>(lambd.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x > lambd ? x - lambd : x < -lambd ? x + lambd : x * opmath_t(0);
  }
};

template <typename scalar_t>
struct ShrinkBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t lambd;
  explicit ShrinkBackwardFunctor(const Scalar& lambd) : lambd(static_cast<opmath_t>(lambd.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    return (x >= -lambd) & (x <= lambd) ? opmath_t(0) : grad;
  }
};

// 1 / (1 + e^-x)
template <typename T>
C10_HOST_DEVICE VECTOR_MATH T logistic(T x) {
  return T(1) / (T(1) + math::exp(-x));
}

// --- gelu: x Phi(x), where Phi is the distribution function of the normal distribution -------------------------------

constexpr double kSqrtHalf = 0.70710678118654752440, kDensityAtZero = 0.39894228040143267794; // 1 / sqrt(2 pi)

template <typename T>
C10_HOST_DEVICE VECTOR_MATH T normal_cdf(T x) {
  return T(0.5) * (T(1) + math::erf(x * T(kSqrtHalf)));
}

// The CPU has a quicker rung of this function and of its derivative for float: ActivationSmooth.cpp.
template <typename scalar_t>
struct GeluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x * normal_cdf(x);
  }
};

// The derivative Phi(x) + x phi(x), where phi is the density.
template <typename scalar_t>
struct GeluBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    return grad * (normal_cdf(x) + x * opmath_t(kDensityAtZero) * math::exp(opmath_t(-0.5) * x * x));
  }
};

// The approximation of gelu uses tanh of u(x) = sqrt(2 / pi) (x + 0.044715 x^3).
constexpr double kBeta = 0.79788456080286535588, kKappa = 0.044715;
template <typename T>
C10_HOST_DEVICE VECTOR_MATH T tanh_of_u(T x) {
  return math::tanh(T(kBeta) * (x + T(kKappa) * x * x * x));
}

template <typename scalar_t>
struct GeluTanhFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return opmath_t(0.5) * x * (opmath_t(1) + tanh_of_u(x));
  }
};

template <typename scalar_t>
struct GeluTanhBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t t = tanh_of_u(x), slope_of_u = opmath_t(kBeta) * (opmath_t(1) + opmath_t(3 * kKappa) * x * x);
    return grad * opmath_t(0.5) * (opmath_t(1) + t + x * (opmath_t(1) - t * t) * slope_of_u);
  }
};

// --- elu: scale * x above zero, alpha * scale * (e^(input_scale * x) - 1) below --------------------------------------

// The numbers of elu: `below` is alpha * scale, `above` is scale, `inner` is input_scale.
template <typename opmath_t>
struct EluNumbers {
  opmath_t below, above, inner;
  EluNumbers(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale)
      : below(static_cast<opmath_t>(alpha.toDouble() * scale.toDouble())),
        above(static_cast<opmath_t>(scale.toDouble())),
        inner(static_cast<opmath_t>(input_scale.toDouble())) {}
};

template <typename scalar_t>
struct EluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  EluNumbers<opmath_t> n;
  EluFunctor(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) : n(alpha, scale, input_scale) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    const opmath_t curve = n.below * math::expm1(x * n.inner);
    return x < opmath_t(0) ? curve : x * n.above;
  }
};

template <typename scalar_t>
struct EluBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  EluNumbers<opmath_t> n;
  EluBackwardFunctor(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale)
      : n(alpha, scale, input_scale) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t curve = grad * n.inner * n.below * math::exp(x * n.inner);
    return x <= opmath_t(0) ? curve : grad * n.above;
  }
};

// If y is the result of elu, alpha * scale * e^(input_scale * x) is y plus alpha * scale.
template <typename scalar_t>
struct EluBackwardOfResultFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  EluNumbers<opmath_t> n;
  EluBackwardOfResultFunctor(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale)
      : n(alpha, scale, input_scale) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t y) const {
    return y <= opmath_t(0) ? grad * n.inner * (y + n.below) : grad * n.above;
  }
};

// --- silu: x sigmoid(x), mish: x tanh(softplus(x)), glu: a sigmoid(b) ------------------------------------------------

template <typename scalar_t>
struct SiluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x / (opmath_t(1) + math::exp(-x));
  }
};

template <typename scalar_t>
struct SiluBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t s = logistic(x);
    return grad * s * (opmath_t(1) + x * (opmath_t(1) - s));
  }
};

// With w = e^x, tanh(log(1 + w)) = (w^2 + 2w) / (w^2 + 2w + 2), which takes one exponential instead of three. For large
// w the quotient is 1 long before w^2 overflows.
template <typename T>
C10_HOST_DEVICE VECTOR_MATH T tanh_of_softplus(T x) {
  const T w = math::exp(x > T(20) ? T(20) : x), n = w * (w + T(2));
  return n / (n + T(2));
}

template <typename scalar_t>
struct MishFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    return x * tanh_of_softplus(x);
  }
};

template <typename scalar_t>
struct MishBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t t = tanh_of_softplus(x);
    return grad * (t + x * logistic(x) * (opmath_t(1) - t * t));
  }
};

template <typename scalar_t>
struct GluFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return a / (opmath_t(1) + math::exp(-b));
  }
};

// The gradient of b; that of a is grad sigmoid(b).
template <typename scalar_t>
struct GluBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b, opmath_t grad) const {
    const opmath_t s = logistic(b);
    return (opmath_t(1) - s) * s * grad * a;
  }
};

// --- softplus: log(1 + e^(beta x)) / beta, and x itself where beta x is above the threshold --------------------------

template <typename scalar_t>
struct SoftplusFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t beta, threshold;
  SoftplusFunctor(const Scalar& beta, const Scalar& threshold)
      : beta(static_cast<opmath_t>(beta.toDouble())), threshold(static_cast<opmath_t>(threshold.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t x) const {
    const opmath_t scaled = x * beta, curve = math::log1p(math::exp(scaled)) / beta;
    return scaled > threshold ? x : curve;
  }
};

template <typename scalar_t>
struct SoftplusBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t beta, threshold;
  SoftplusBackwardFunctor(const Scalar& beta, const Scalar& threshold)
      : beta(static_cast<opmath_t>(beta.toDouble())), threshold(static_cast<opmath_t>(threshold.toDouble())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t x) const {
    const opmath_t scaled = x * beta, curve = grad * logistic(scaled);
    return scaled > threshold ? grad : curve;
  }
};

// The derivative of log_sigmoid is 1 / (1 + e^x), computed from power = e^-|x|.
template <typename scalar_t>
struct LogSigmoidBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t x, opmath_t power, opmath_t grad) const {
    const opmath_t smaller = power / (opmath_t(1) + power);
    return (x < opmath_t(0) ? opmath_t(1) - smaller : smaller) * grad;
  }
};

} // namespace reftorch::at::native
