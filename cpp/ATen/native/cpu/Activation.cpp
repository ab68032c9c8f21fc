// Mirrors: aten/src/ATen/native/cpu/Activation.cpp
//
// The activation functions that are piecewise linear; the others are in ActivationSmooth.cpp. The inputs of a backward
// kernel are grad and x; those of leaky_relu_backward are x and grad.
#include <ATen/native/Activation.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMath.h>

namespace reftorch::at::native {
namespace {

void relu_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "relu_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return a < 0 ? opmath_t(0) : a; });
  });
}

void threshold_kernel(TensorIterator& iter, const Scalar& threshold_scalar, const Scalar& value_scalar) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "threshold_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto threshold = threshold_scalar.to<opmath_t>();
    const auto value = value_scalar.to<opmath_t>();
    cpu_kernel<scalar_t>(iter, [threshold, value](opmath_t self, opmath_t other) -> opmath_t {
      return self <= threshold ? value : other;
    });
  });
}

void leaky_relu_kernel(TensorIterator& iter, const Scalar& negative_slope) {
  unary_float_kernel(iter, "leaky_relu_cpu",
                     [slope = negative_slope.toDouble()](auto x) { return x > 0 ? x : x * decltype(x)(slope); });
}

void leaky_relu_backward_kernel(TensorIterator& iter, const Scalar& negative_slope) {
  binary_float_kernel(iter, "leaky_relu_backward_cpu", [slope = negative_slope.toDouble()](auto x, auto grad) {
    return x > 0 ? grad : grad * decltype(x)(slope);
  });
}

void prelu_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "prelu_cpu", [](auto x, auto weight) { return x > 0 ? x : weight * x; });
}

void prelu_backward_self_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "prelu_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(
        iter, [](opmath_t x, opmath_t weight, opmath_t grad) -> opmath_t { return x > 0 ? grad : weight * grad; });
  });
}

void prelu_backward_weight_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "prelu_backward_cpu", [](auto x, auto grad) { return x > 0 ? decltype(x)(0) : x * grad; });
}

// One element after another, because each draw changes the state of the generator.
void rrelu_kernel(const Tensor& output, const Tensor& noise, const Tensor& self, double lower_, double upper_,
                  const std::optional<Generator>& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kHalf, "\"rrelu_with_noise_out_cpu\" not implemented for 'Half'");
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(self.scalar_type(), "rrelu_with_noise_out_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const uniform_real_distribution<double> uniform{static_cast<opmath_t>(lower_), static_cast<opmath_t>(upper_)};
    const scalar_t* x = self.data_ptr<scalar_t>();
    scalar_t *out = output.data_ptr<scalar_t>(), *slopes = noise.data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); i++) {
      const opmath_t value = x[i];
      const opmath_t slope = value <= 0 ? static_cast<opmath_t>(uniform(generator)) : opmath_t(1);
      out[i] = value * slope;
      slopes[i] = slope;
    }
  });
}

void hardtanh_backward_kernel(TensorIterator& iter, const Scalar& min_val, const Scalar& max_val) {
  binary_float_kernel(iter, "hardtanh_backward_cpu",
                      [min = min_val.toDouble(), max = max_val.toDouble()](auto grad, auto x) {
                        using T = decltype(x);
                        return (x <= T(min)) | (x >= T(max)) ? T(0) : grad;
                      });
}

// x + 3 clamped to [0, 6]; NaN stays NaN.
template <typename T>
VECTOR_MATH T relu6_of_x_plus_3(T x) {
  const T sum = x + T(3);
  return sum < T(0) ? T(0) : sum > T(6) ? T(6) : sum;
}

void hardsigmoid_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "hardsigmoid_cpu", [](auto x) { return relu6_of_x_plus_3(x) / decltype(x)(6); });
}

void hardsigmoid_backward_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "hardsigmoid_backward", [](auto grad, auto x) {
    using T = decltype(x);
    return (x > T(-3)) & (x < T(3)) ? grad * T(1. / 6.) : T(0);
  });
}

void hardswish_kernel(TensorIterator& iter) {
  unary_float_kernel(iter, "hardswish_cpu", [](auto x) { return x * relu6_of_x_plus_3(x) / decltype(x)(6); });
}

void hardswish_backward_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "hardswish_backward_cpu", [](auto grad, auto x) {
    using T = decltype(x);
    const T inside = grad * (x / T(3) + T(0.5));
    return x <= T(-3) ? T(0) : x < T(3) ? inside : grad;
  });
}

void hardshrink_kernel(TensorIterator& iter, const Scalar& lambd) {
  unary_float_kernel(iter, "hardshrink_cpu", [lambd = lambd.toDouble()](auto x) {
    using T = decltype(x);
    return (x >= T(-lambd)) & (x <= T(lambd)) ? T(0) : x;
  });
}

// Between the two slopes the result is 0, or NaN where x is NaN.
void softshrink_kernel(TensorIterator& iter, const Scalar& lambd) {
  unary_float_kernel(iter, "softshrink_cpu", [lambd = lambd.toDouble()](auto x) {
    using T = decltype(x);
    return x > T(lambd) ? x - T(lambd) : x < T(-lambd) ? x + T(lambd) : x * T(0);
  });
}

void shrink_backward_kernel(TensorIterator& iter, const Scalar& lambd) {
  binary_float_kernel(iter, "shrink_backward_cpu", [lambd = lambd.toDouble()](auto grad, auto x) {
    using T = decltype(x);
    return (x >= T(-lambd)) & (x <= T(lambd)) ? T(0) : grad;
  });
}

} // namespace

REGISTER_CPU_DISPATCH(relu_stub, relu_kernel)
REGISTER_CPU_DISPATCH(threshold_stub, threshold_kernel)
REGISTER_CPU_DISPATCH(leaky_relu_stub, leaky_relu_kernel)
REGISTER_CPU_DISPATCH(leaky_relu_backward_stub, leaky_relu_backward_kernel)
REGISTER_CPU_DISPATCH(prelu_stub, prelu_kernel)
REGISTER_CPU_DISPATCH(prelu_backward_self_stub, prelu_backward_self_kernel)
REGISTER_CPU_DISPATCH(prelu_backward_weight_stub, prelu_backward_weight_kernel)
REGISTER_CPU_DISPATCH(rrelu_stub, rrelu_kernel)
REGISTER_CPU_DISPATCH(hardtanh_backward_stub, hardtanh_backward_kernel)
REGISTER_CPU_DISPATCH(hardsigmoid_stub, hardsigmoid_kernel)
REGISTER_CPU_DISPATCH(hardsigmoid_backward_stub, hardsigmoid_backward_kernel)
REGISTER_CPU_DISPATCH(hardswish_stub, hardswish_kernel)
REGISTER_CPU_DISPATCH(hardswish_backward_stub, hardswish_backward_kernel)
REGISTER_CPU_DISPATCH(hardshrink_stub, hardshrink_kernel)
REGISTER_CPU_DISPATCH(softshrink_stub, softshrink_kernel)
REGISTER_CPU_DISPATCH(shrink_backward_stub, shrink_backward_kernel)

} // namespace reftorch::at::native
