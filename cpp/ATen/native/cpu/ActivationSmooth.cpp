// Mirrors: aten/src/ATen/native/cpu/Activation.cpp (gelu, elu, silu, mish, softplus, log_sigmoid)
//
// The activation functions that contain exponentials. VectorMath.h and Loops.h make vector instructions of the formulas
// in ActivationFunctors.h.
#include <ATen/cpu/vec/VectorMathDouble.h>
#include <ATen/native/Activation.h>
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {
namespace {

// --- gelu ------------------------------------------------------------------------------------------------------------

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

VECTOR_MATH float exact_gelu(float x) {
  return x * normal_cdf(x, normal_tail(x));
}
// The derivative Phi(x) + x phi(x); the density phi uses the exponential of the tail.
VECTOR_MATH float exact_gelu_slope(float x) {
  const NormalTail tail = normal_tail(x);
  return normal_cdf(x, tail) + x * float(kDensityAtZero) * tail.power;
}

// The quick rungs of GeluFunctor and GeluBackwardFunctor for float and the 16-bit floats.
template <typename scalar_t>
struct QuickGeluFunctor : GeluFunctor<scalar_t> {
  float operator()(float x) const {
    return exact_gelu(x);
  }
};
template <>
struct QuickGeluFunctor<double> : GeluFunctor<double> {};
template <typename scalar_t>
struct QuickGeluBackwardFunctor : GeluBackwardFunctor<scalar_t> {
  float operator()(float grad, float x) const {
    return grad * exact_gelu_slope(x);
  }
};
template <>
struct QuickGeluBackwardFunctor<double> : GeluBackwardFunctor<double> {};

void gelu_kernel(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    cpu_elementwise<QuickGeluFunctor>(iter, "GeluKernelImpl");
  } else {
    cpu_elementwise<GeluTanhFunctor>(iter, "GeluKernelImpl");
  }
}

void gelu_backward_kernel(TensorIterator& iter, GeluType approximate) {
  if (approximate == GeluType::None) {
    cpu_elementwise<QuickGeluBackwardFunctor>(iter, "GeluBackwardKernelImpl");
  } else {
    cpu_elementwise<GeluTanhBackwardFunctor>(iter, "GeluBackwardKernelImpl");
  }
}

void elu_backward_kernel(TensorIterator& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                         bool is_result) {
  if (is_result) {
    cpu_elementwise<EluBackwardOfResultFunctor>(iter, "elu_backward_cpu", alpha, scale, input_scale);
  } else {
    cpu_elementwise<EluBackwardFunctor>(iter, "elu_backward_cpu", alpha, scale, input_scale);
  }
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
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "log_sigmoid_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t *out = output.data_ptr<scalar_t>(), *powers = buffer.data_ptr<scalar_t>();
    const scalar_t* in = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      log_sigmoid_loop(out + begin, powers + begin, in + begin, end - begin);
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(gelu_stub, gelu_kernel)
REGISTER_CPU_DISPATCH(gelu_backward_stub, gelu_backward_kernel)
REGISTER_CPU_DISPATCH(elu_backward_stub, elu_backward_kernel)
REGISTER_CPU_DISPATCH(log_sigmoid_stub, log_sigmoid_kernel)
REGISTER_CPU_ELEMENTWISE(elu_stub, elu_kernel, EluFunctor, "elu_cpu")
REGISTER_CPU_ELEMENTWISE(silu_stub, silu_kernel, SiluFunctor, "silu_cpu")
REGISTER_CPU_ELEMENTWISE(silu_backward_stub, silu_backward_kernel, SiluBackwardFunctor, "silu_backward_cpu")
REGISTER_CPU_ELEMENTWISE(mish_stub, mish_kernel, MishFunctor, "mish_cpu")
REGISTER_CPU_ELEMENTWISE(mish_backward_stub, mish_backward_kernel, MishBackwardFunctor, "mish_backward_cpu")
REGISTER_CPU_ELEMENTWISE(softplus_stub, softplus_kernel, SoftplusFunctor, "softplus_cpu")
REGISTER_CPU_ELEMENTWISE(softplus_backward_stub, softplus_backward_kernel, SoftplusBackwardFunctor,
                         "softplus_backward_cpu")
REGISTER_CPU_ELEMENTWISE(log_sigmoid_backward_stub, log_sigmoid_backward_kernel, LogSigmoidBackwardFunctor,
                         "log_sigmoid_backward_cpu")

} // namespace reftorch::at::native
