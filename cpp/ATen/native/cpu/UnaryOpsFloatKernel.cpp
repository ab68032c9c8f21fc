// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions of real numbers that models use most; the rest is in UnaryOpsMathKernel.cpp. The iterator has converted
// integers to floats. The 16-bit floats are computed in float.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/TwoRungs.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

void sqrt_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sqrt_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::sqrt(a); });
  });
}

void rsqrt_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "rsqrt_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return opmath_t(1) / std::sqrt(a); });
  });
}

void reciprocal_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "reciprocal_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return opmath_t(1) / a; });
  });
}

void exp_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "exp_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return vec_exp(a); });
  });
}

void expm1_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "expm1_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return vec_expm1(a); });
  });
}

void log_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "log_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return vec_log(a); });
  });
}

void log1p_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "log1p_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return vec_log1p(a); });
  });
}

// The fast version is valid for angles up to kLargestAngle; larger angles take the exact version.
template <typename Fast, typename Exact>
void angle_function_kernel(TensorIterator& iter, const char* name, const Fast& fast, const Exact& exact) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a) { return std::fabs(a) <= kLargestAngle; },
        [fast](opmath_t a) -> opmath_t { return fast(a); }, [exact](opmath_t a) -> opmath_t { return exact(a); });
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
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return vec_tanh(a); });
  });
}

// 1 / (1 + e^-x)
void sigmoid_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "sigmoid_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return opmath_t(1) / (opmath_t(1) + vec_exp(-a)); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(sqrt_stub, sqrt_kernel)
REGISTER_CPU_DISPATCH(rsqrt_stub, rsqrt_kernel)
REGISTER_CPU_DISPATCH(reciprocal_stub, reciprocal_kernel)
REGISTER_CPU_DISPATCH(exp_stub, exp_kernel)
REGISTER_CPU_DISPATCH(expm1_stub, expm1_kernel)
REGISTER_CPU_DISPATCH(log_stub, log_kernel)
REGISTER_CPU_DISPATCH(log1p_stub, log1p_kernel)
REGISTER_CPU_DISPATCH(sin_stub, sin_kernel)
REGISTER_CPU_DISPATCH(cos_stub, cos_kernel)
REGISTER_CPU_DISPATCH(tan_stub, tan_kernel)
REGISTER_CPU_DISPATCH(tanh_stub, tanh_kernel)
REGISTER_CPU_DISPATCH(sigmoid_stub, sigmoid_kernel)

} // namespace reftorch::at::native
