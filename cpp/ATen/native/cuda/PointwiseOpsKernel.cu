// Mirrors: aten/src/ATen/native/cuda/PointwiseOpsKernel.cu, aten/src/ATen/native/cuda/Lerp.cu
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/PointwiseOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(addcmul_stub, addcmul_kernel_cuda, AddcmulFunctor, "addcmul_cuda")
REGISTER_CUDA_ELEMENTWISE(addcdiv_stub, addcdiv_kernel_cuda, AddcdivFunctor, "addcdiv_cuda")
REGISTER_CUDA_ELEMENTWISE(lerp_kernel_scalar_weight, lerp_scalar_kernel_cuda, LerpScalarFunctor, "lerp_cuda")
REGISTER_CUDA_ELEMENTWISE(lerp_kernel_tensor_weight, lerp_tensor_kernel_cuda, LerpTensorFunctor, "lerp_cuda")

} // namespace reftorch::at::native
