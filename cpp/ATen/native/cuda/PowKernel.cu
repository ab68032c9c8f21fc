// Mirrors: aten/src/ATen/native/cuda/PowKernel.cu
#include <ATen/native/Pow.h>
#include <ATen/native/PowFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

void pow_tensor_scalar_kernel_cuda(TensorIterator& iter, const Scalar& exponent) {
  dispatch<AllNumbers>(iter.dtype(), "pow_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_pow_functor<scalar_t>(exponent, [&](const auto& functor) { gpu_kernel<scalar_t>(iter, functor); });
  });
}

} // namespace

REGISTER_CUDA_ELEMENTWISE(pow_tensor_tensor_stub, pow_tensor_tensor_kernel_cuda, PowFunctor, "pow_cuda")
REGISTER_CUDA_DISPATCH(pow_tensor_scalar_stub, pow_tensor_scalar_kernel_cuda)

} // namespace reftorch::at::native
