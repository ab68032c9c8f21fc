// Mirrors: aten/src/ATen/native/cuda/CompareKernels.cu, aten/src/ATen/native/cuda/CompareEQKernel.cu
//
// The six comparisons.
#include <ATen/native/BinaryLogicOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(eq_stub, eq_kernel_cuda, EqFunctor, "compare_cuda")
REGISTER_CUDA_ELEMENTWISE(ne_stub, ne_kernel_cuda, NeFunctor, "compare_cuda")
REGISTER_CUDA_ELEMENTWISE(lt_stub, lt_kernel_cuda, LtFunctor, "compare_cuda")
REGISTER_CUDA_ELEMENTWISE(le_stub, le_kernel_cuda, LeFunctor, "compare_cuda")
REGISTER_CUDA_ELEMENTWISE(gt_stub, gt_kernel_cuda, GtFunctor, "compare_cuda")
REGISTER_CUDA_ELEMENTWISE(ge_stub, ge_kernel_cuda, GeFunctor, "compare_cuda")

} // namespace reftorch::at::native
