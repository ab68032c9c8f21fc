// Mirrors: aten/src/ATen/native/cpu/PowKernel.cpp
#include <ATen/native/Pow.h>
#include <ATen/native/PowFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

void pow_tensor_scalar_kernel(TensorIterator& iter, const Scalar& exponent) {
  dispatch<AllNumbers>(iter.dtype(), "pow", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_pow_functor<scalar_t>(exponent, [&](const auto& functor) { cpu_kernel<scalar_t>(iter, functor); });
  });
}

} // namespace

REGISTER_CPU_ELEMENTWISE(pow_tensor_tensor_stub, pow_tensor_tensor_kernel, PowFunctor, "pow")
REGISTER_CPU_DISPATCH(pow_tensor_scalar_stub, pow_tensor_scalar_kernel)

} // namespace reftorch::at::native
