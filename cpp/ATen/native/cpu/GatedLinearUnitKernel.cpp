// Mirrors: aten/src/ATen/native/cpu/Activation.cpp (glu_kernel, glu_backward_kernel)
#include <ATen/native/GatedLinearUnit.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMathDouble.h>

namespace reftorch::at::native {
namespace {

void glu_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "glu_cpu", [](auto a, auto b) { return a / (decltype(b)(1) + vec_exp(-b)); });
}

void glu_backward_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "glu_backward_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b, opmath_t grad) -> opmath_t {
      const opmath_t s = opmath_t(1) / (opmath_t(1) + vec_exp(-b));
      return (opmath_t(1) - s) * s * grad * a;
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(glu_stub, glu_kernel)
REGISTER_CPU_DISPATCH(glu_backward_stub, glu_backward_kernel)

} // namespace reftorch::at::native
