// Mirrors: aten/src/ATen/native/cpu/Activation.cpp (gelu, elu, silu, mish, softplus, log_sigmoid)
//
// The activation functions that contain exponentials. The inputs of a backward kernel are grad and x. Each line of
// arithmetic is the formula itself; VectorMath.h and Loops.h make vector instructions of it.
#include <ATen/native/Activation.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMathDouble.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {
namespace {

// 1 / (1 + e^-x)
template <typename T>
VECTOR_MATH T vec_sigmoid(T x) {
  return T(1) / (T(1) + vec_exp(-x));
}

// --- gelu: x Phi(x), where Phi is the distribution function of the normal distribution -------------------------------

constexpr double kSqrtHalf = 0.70710678118654752440, kDensityAtZero = 0.39894228040143267794; // 1 / sqrt(2 pi)

// The two factors of the tail 1 - Phi(|x|): power = e^(-x^2 / 2), and a quotient that changes slowly.
struct NormalTail {
  float power, quotient;
};
// 2^x for x <= 0, as 2^n 2^r with the integer n nearest to x; 2^r is a minimax polynomial. Results below 2^-126, among
// them all subnormal numbers, are 0. NaN passes through.
VECTOR_MATH float exp2_of_negative(float x) {
  constexpr float kShift = 12582912.f + 127.f; // the sum holds n + 127, as in vec_exp
  const float sum = x + kShift, r = x - (sum - kShift);
  const float p =
      horner(r, 1.3264726261e-03f, 9.6715130113e-03f, 5.5507337492e-02f, 2.4022242079e-01f, 6.9314697759e-01f, 1.f);
  return x < -126.f ? 0.f : p * pow2_of_low_bits(bits_of(sum));
}

// Up to |x| = 6 the quotient is a polynomial, a minimax fit of degree 12; for larger |x| the power is so small that the
// tail does not change a float result.
VECTOR_MATH NormalTail normal_tail(float x) {
  const float ax = std::fabs(x), t = ax > 6.f ? 6.f : ax;
  const float quotient =
      horner(t, 3.716353802474259e-08f, -1.1188021744601429e-06f, 1.5157347661443055e-05f, -0.0001236589450854808f,
             0.0006897817901785178f, -0.0028546929825097322f, 0.009366432204842567f, -0.02579215168952942f,
             0.062099799513816833f, -0.13286171853542328f, 0.24998162686824799f, -0.39894115924835205f, 0.5f);
  return {exp2_of_negative(float(-0.5 * kLog2e) * x * x), quotient};
}

VECTOR_MATH float normal_cdf(float x, const NormalTail& tail) {
  const float rest = tail.power * tail.quotient;
  return x < 0.f ? rest : 1.f - rest;
}
VECTOR_MATH double normal_cdf(double x) {
  return 0.5 * (1. + vec_erf(x * kSqrtHalf));
}

VECTOR_MATH float exact_gelu(float x) {
  return x * normal_cdf(x, normal_tail(x));
}
VECTOR_MATH double exact_gelu(double x) {
  return x * normal_cdf(x);
}

// The derivative Phi(x) + x phi(x); the density phi uses the exponential of the tail.
VECTOR_MATH float exact_gelu_slope(float x) {
  const NormalTail tail = normal_tail(x);
  return normal_cdf(x, tail) + x * float(kDensityAtZero) * tail.power;
}
VECTOR_MATH double exact_gelu_slope(double x) {
  return normal_cdf(x) + x * kDensityAtZero * vec_exp(-0.5 * x * x);
}

// The approximation of gelu uses tanh of u(x) = sqrt(2 / pi) (x + 0.044715 x^3).
constexpr double kBeta = 0.79788456080286535588, kKappa = 0.044715;

template <typename T>
VECTOR_MATH T tanh_of_u(T x) {
  return vec_tanh(T(kBeta) * (x + T(kKappa) * x * x * x));
}

void gelu_kernel(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    unary_float_kernel(iter, "GeluKernelImpl", [](auto x) { return exact_gelu(x); });
  } else {
    unary_float_kernel(iter, "GeluKernelImpl", [](auto x) {
      using T = decltype(x);
      return T(0.5) * x * (T(1) + tanh_of_u(x));
    });
  }
}

void gelu_backward_kernel(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    binary_float_kernel(iter, "GeluBackwardKernelImpl", [](auto grad, auto x) { return grad * exact_gelu_slope(x); });
  } else {
    binary_float_kernel(iter, "GeluBackwardKernelImpl", [](auto grad, auto x) {
      using T = decltype(x);
      const T t = tanh_of_u(x), slope_of_u = T(kBeta) * (T(1) + T(3 * kKappa) * x * x);
      return grad * T(0.5) * (T(1) + t + x * (T(1) - t * t) * slope_of_u);
    });
  }
}

// --- elu: scale * x above zero, alpha * scale * (e^(input_scale * x) - 1) below --------------------------------------

void elu_kernel(TensorIterator& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const double below = alpha.toDouble() * scale.toDouble(), above = scale.toDouble(), inner = input_scale.toDouble();
  unary_float_kernel(iter, "elu_cpu", [below, above, inner](auto x) {
    using T = decltype(x);
    const T curve = T(below) * vec_expm1(x * T(inner));
    return x < T(0) ? curve : x * T(above);
  });
}

// If x is the result of elu, alpha * scale * e^(input_scale * x) is the result plus alpha * scale.
void elu_backward_kernel(TensorIterator& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                         bool is_result) {
  const double below = alpha.toDouble() * scale.toDouble(), above = scale.toDouble(), inner = input_scale.toDouble();
  if (is_result) {
    binary_float_kernel(iter, "elu_backward_cpu", [below, above, inner](auto grad, auto y) {
      using T = decltype(y);
      return y <= T(0) ? grad * T(inner) * (y + T(below)) : grad * T(above);
    });
  } else {
    binary_float_kernel(iter, "elu_backward_cpu", [below, above, inner](auto grad, auto x) {
      using T = decltype(x);
      const T curve = grad * T(inner) * T(below) * vec_exp(x * T(inner));
      return x <= T(0) ? curve : grad * T(above);
    });
  }
}

// --- silu: x sigmoid(x), and mish: x tanh(softplus(x)) ---------------------------------------------------------------

void silu_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "silu_cpu", [](auto x) { return x / (decltype(x)(1) + vec_exp(-x)); });
}

void silu_backward_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "silu_backward_cpu", [](auto grad, auto x) {
    using T = decltype(x);
    const T s = vec_sigmoid(x);
    return grad * s * (T(1) + x * (T(1) - s));
  });
}

// With w = e^x, tanh(log(1 + w)) = (w^2 + 2w) / (w^2 + 2w + 2), which takes one exponential instead of three. For large
// w the quotient is 1 long before w^2 overflows.
template <typename T>
VECTOR_MATH T tanh_of_softplus(T x) {
  const T w = vec_exp(x > T(20) ? T(20) : x), n = w * (w + T(2));
  return n / (n + T(2));
}

void mish_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "mish_cpu", [](auto x) { return x * tanh_of_softplus(x); });
}

void mish_backward_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "mish_backward_cpu", [](auto grad, auto x) {
    using T = decltype(x);
    const T t = tanh_of_softplus(x);
    return grad * (t + x * vec_sigmoid(x) * (T(1) - t * t));
  });
}

// --- softplus: log(1 + e^(beta x)) / beta, and x itself where beta x is above the threshold --------------------------

void softplus_kernel(TensorIterator& iter, const Scalar& beta_scalar, const Scalar& threshold_scalar) {
  const double beta = beta_scalar.toDouble(), threshold = threshold_scalar.toDouble();
  unary_float_kernel(iter, "softplus_cpu", [beta, threshold](auto x) {
    using T = decltype(x);
    const T scaled = x * T(beta), curve = vec_log1p(vec_exp(scaled)) / T(beta);
    return scaled > T(threshold) ? x : curve;
  });
}

void softplus_backward_kernel(TensorIterator& iter, const Scalar& beta_scalar, const Scalar& threshold_scalar) {
  const double beta = beta_scalar.toDouble(), threshold = threshold_scalar.toDouble();
  binary_float_kernel(iter, "softplus_backward_cpu", [beta, threshold](auto grad, auto x) {
    using T = decltype(x);
    const T scaled = x * T(beta), curve = grad * vec_sigmoid(scaled);
    return scaled > T(threshold) ? grad : curve;
  });
}

// --- log_sigmoid: min(x, 0) - log(1 + e^-|x|) ------------------------------------------------------------------------

template <typename scalar_t>
TARGET_CLONES static void log_sigmoid_loop(scalar_t* out, scalar_t* buffer, const scalar_t* in, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  for (int64_t i = 0; i < n; i++) {
    const opmath_t x = in[i], power = vec_exp(-std::fabs(x));
    buffer[i] = power;
    out[i] = (x > opmath_t(0) ? opmath_t(0) : x) - vec_log1p(power);
  }
}

void log_sigmoid_kernel(const Tensor& output, const Tensor& buffer, const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(self.scalar_type(), "log_sigmoid_cpu", [&] {
    scalar_t *out = output.data_ptr<scalar_t>(), *powers = buffer.data_ptr<scalar_t>();
    const scalar_t* in = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      log_sigmoid_loop(out + begin, powers + begin, in + begin, end - begin);
    });
  });
}

// The derivative is 1 / (1 + e^x), computed from e^-|x|.
void log_sigmoid_backward_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "log_sigmoid_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t x, opmath_t power, opmath_t grad) -> opmath_t {
      const opmath_t smaller = power / (opmath_t(1) + power);
      return (x < 0 ? opmath_t(1) - smaller : smaller) * grad;
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(gelu_stub, gelu_kernel)
REGISTER_CPU_DISPATCH(gelu_backward_stub, gelu_backward_kernel)
REGISTER_CPU_DISPATCH(elu_stub, elu_kernel)
REGISTER_CPU_DISPATCH(elu_backward_stub, elu_backward_kernel)
REGISTER_CPU_DISPATCH(silu_stub, silu_kernel)
REGISTER_CPU_DISPATCH(silu_backward_stub, silu_backward_kernel)
REGISTER_CPU_DISPATCH(mish_stub, mish_kernel)
REGISTER_CPU_DISPATCH(mish_backward_stub, mish_backward_kernel)
REGISTER_CPU_DISPATCH(softplus_stub, softplus_kernel)
REGISTER_CPU_DISPATCH(softplus_backward_stub, softplus_backward_kernel)
REGISTER_CPU_DISPATCH(log_sigmoid_stub, log_sigmoid_kernel)
REGISTER_CPU_DISPATCH(log_sigmoid_backward_stub, log_sigmoid_backward_kernel)

} // namespace reftorch::at::native
