// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
// Functions of real numbers that models are full of; the rest is in UnaryMathKernel.cpp. The iterator has made floats
// of integers. The 16-bit floats compute in float.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/TwoRungs.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

void sqrt_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sqrt_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return std::sqrt(opmath_type<scalar_t>(a)); });
  });
}

void rsqrt_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "rsqrt_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return opmath_t(1) / std::sqrt(opmath_t(a)); });
  });
}

void reciprocal_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "reciprocal_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return opmath_t(1) / opmath_t(a); });
  });
}

void exp_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "exp_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return vec_exp(opmath_type<scalar_t>(a)); });
  });
}

void expm1_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "expm1_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return vec_expm1(opmath_type<scalar_t>(a)); });
  });
}

void log_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "log_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return vec_log(opmath_type<scalar_t>(a)); });
  });
}

void log1p_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "log1p_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return vec_log1p(opmath_type<scalar_t>(a)); });
  });
}

// The fast rung takes no angle past kLargestAngle.
template <typename Fast, typename Exact>
void angle_function_kernel(TensorIterator& iter, const char* name, const Fast& fast, const Exact& exact) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel(
        iter, [](scalar_t a) { return std::fabs(opmath_t(a)) <= kLargestAngle; },
        [fast](scalar_t a) -> scalar_t { return fast(opmath_t(a)); },
        [exact](scalar_t a) -> scalar_t { return exact(opmath_t(a)); });
  });
}

void sin_kernel(TensorIterator& iter) {
  angle_function_kernel(iter, "sin_cpu", [](auto a) { return vec_sin(a); }, [](auto a) { return std::sin(a); });
}
void cos_kernel(TensorIterator& iter) {
  angle_function_kernel(iter, "cos_cpu", [](auto a) { return vec_cos(a); }, [](auto a) { return std::cos(a); });
}
void tan_kernel(TensorIterator& iter) {
  angle_function_kernel(iter, "tan_cpu", [](auto a) { return vec_tan(a); }, [](auto a) { return std::tan(a); });
}

void tanh_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "tanh_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return vec_tanh(opmath_type<scalar_t>(a)); });
  });
}

// 1 / (1 + e^-x)
void sigmoid_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sigmoid_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return opmath_t(1) / (opmath_t(1) + vec_exp(-opmath_t(a))); });
  });
}

} // namespace

REGISTER_DISPATCH(sqrt_stub, sqrt_kernel)
REGISTER_DISPATCH(rsqrt_stub, rsqrt_kernel)
REGISTER_DISPATCH(reciprocal_stub, reciprocal_kernel)
REGISTER_DISPATCH(exp_stub, exp_kernel)
REGISTER_DISPATCH(expm1_stub, expm1_kernel)
REGISTER_DISPATCH(log_stub, log_kernel)
REGISTER_DISPATCH(log1p_stub, log1p_kernel)
REGISTER_DISPATCH(sin_stub, sin_kernel)
REGISTER_DISPATCH(cos_stub, cos_kernel)
REGISTER_DISPATCH(tan_stub, tan_kernel)
REGISTER_DISPATCH(tanh_stub, tanh_kernel)
REGISTER_DISPATCH(sigmoid_stub, sigmoid_kernel)

} // namespace reftorch::at::native
