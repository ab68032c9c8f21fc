// Mirrors: aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp, aten/src/ATen/native/cpu/LerpKernel.cpp
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/PointwiseOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(addcmul_stub, addcmul_kernel, AddcmulFunctor, "addcmul_cpu_out")
REGISTER_CPU_ELEMENTWISE(addcdiv_stub, addcdiv_kernel, AddcdivFunctor, "addcdiv_cpu_out")
REGISTER_CPU_ELEMENTWISE(lerp_kernel_scalar_weight, lerp_scalar_kernel, LerpScalarFunctor, "lerp_kernel_scalar")
REGISTER_CPU_ELEMENTWISE(lerp_kernel_tensor_weight, lerp_tensor_kernel, LerpTensorFunctor, "lerp_kernel_tensor")

} // namespace reftorch::at::native
