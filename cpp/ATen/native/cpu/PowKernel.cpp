// Mirrors: aten/src/ATen/native/cpu/PowKernel.cpp
#include <ATen/native/Pow.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

void pow_tensor_tensor_kernel(TensorIterator& iter) {
  if (c10::isFloatingType(iter.dtype())) {
    AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "pow", [&] {
      using opmath_t = opmath_type<scalar_t>;
      cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t { return vec_pow(a, b); });
    });
    return;
  }
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "pow",
                             [&] { cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return powi(a, b); }); });
}

template <typename scalar_t>
void pow_floating(TensorIterator& iter, double exponent) {
  using opmath_t = opmath_type<scalar_t>;
  if (exponent == 2) {
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return a * a; });
  } else if (exponent == 3) {
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return a * a * a; });
  } else if (exponent == 0.5) {
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::sqrt(a); });
  } else if (exponent == -0.5) {
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return opmath_t(1) / std::sqrt(a); });
  } else if (exponent == -1) {
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return opmath_t(1) / a; });
  } else {
    const opmath_t n = static_cast<opmath_t>(exponent);
    cpu_kernel<scalar_t>(iter, [n](opmath_t a) -> opmath_t { return vec_pow(a, n); });
  }
}

// Squares, cubes, square roots and reciprocals have loops of their own, without pow().
void pow_tensor_scalar_kernel(TensorIterator& iter, const Scalar& exponent) {
  if (c10::isFloatingType(iter.dtype())) {
    AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "pow",
                                           [&] { pow_floating<scalar_t>(iter, exponent.toDouble()); });
    return;
  }
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "pow", [&] {
    const auto n = exponent.to<scalar_t>();
    cpu_kernel(iter, [n](scalar_t a) -> scalar_t { return powi(a, n); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(pow_tensor_tensor_stub, pow_tensor_tensor_kernel)
REGISTER_CPU_DISPATCH(pow_tensor_scalar_stub, pow_tensor_scalar_kernel)

} // namespace reftorch::at::native
