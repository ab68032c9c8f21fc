// Mirrors: aten/src/ATen/native/cpu/Activation.cpp
#include <ATen/native/Activation.h>
#include <ATen/native/cpu/Loops.h>

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

} // namespace

REGISTER_DISPATCH(relu_stub, relu_kernel)
REGISTER_DISPATCH(threshold_stub, threshold_kernel)

} // namespace reftorch::at::native
