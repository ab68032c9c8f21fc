// Mirrors: aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp, aten/src/ATen/native/cpu/LerpKernel.cpp
#include <ATen/native/Lerp.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

void addcmul_kernel(TensorIterator& iter, const Scalar& value) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "addcmul_cpu_out", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = value.to<opmath_t>();
    cpu_kernel<scalar_t>(
        iter, [factor](opmath_t self, opmath_t t1, opmath_t t2) -> opmath_t { return self + factor * t1 * t2; });
  });
}

void addcdiv_kernel(TensorIterator& iter, const Scalar& value) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "addcdiv_cpu_out", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto factor = value.to<opmath_t>();
    cpu_kernel<scalar_t>(
        iter, [factor](opmath_t self, opmath_t t1, opmath_t t2) -> opmath_t { return self + factor * t1 / t2; });
  });
}

void lerp_scalar_kernel(TensorIterator& iter, const Scalar& weight) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "lerp_kernel_scalar", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto w = weight.to<opmath_t>();
    cpu_kernel<scalar_t>(iter, [w](opmath_t self, opmath_t end) -> opmath_t { return lerp(self, end, w); });
  });
}

void lerp_tensor_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "lerp_kernel_tensor", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(
        iter, [](opmath_t self, opmath_t end, opmath_t weight) -> opmath_t { return lerp(self, end, weight); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(addcmul_stub, addcmul_kernel)
REGISTER_CPU_DISPATCH(addcdiv_stub, addcdiv_kernel)
REGISTER_CPU_DISPATCH(lerp_kernel_scalar_weight, lerp_scalar_kernel)
REGISTER_CPU_DISPATCH(lerp_kernel_tensor_weight, lerp_tensor_kernel)

} // namespace reftorch::at::native
