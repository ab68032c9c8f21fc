// Mirrors: aten/src/ATen/native/cuda/ActivationGluKernel.cu
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/GatedLinearUnit.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(glu_stub, glu_kernel_cuda, GluFunctor, "glu_cuda")
REGISTER_CUDA_ELEMENTWISE(glu_backward_stub, glu_backward_kernel_cuda, GluBackwardFunctor, "glu_backward_cuda")

} // namespace reftorch::at::native
