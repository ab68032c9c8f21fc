// Mirrors: aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu, aten/src/ATen/native/cuda/BinaryDivTruncKernel.cu, aten/src/ATen/native/cuda/BinaryDivFloorKernel.cu, aten/src/ATen/native/cuda/BinaryRemainderKernel.cu
//
// Division: true, rounded toward zero, rounded down, and the remainders of the last two. On a GPU, dividing an integer
// by zero raises no error and its result is undefined; these kernels return a number with all bits set.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinaryOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(div_true_stub, div_true_kernel_cuda, DivTrueFunctor, "div_true_cuda")
REGISTER_CUDA_ELEMENTWISE(div_trunc_stub, div_trunc_kernel_cuda, DivTruncFunctor, "div_trunc_cuda")
REGISTER_CUDA_ELEMENTWISE(div_floor_stub, div_floor_kernel_cuda, DivFloorFunctor, "div_floor_cuda")
REGISTER_CUDA_ELEMENTWISE(remainder_stub, remainder_kernel_cuda, RemainderFunctor, "remainder_cuda")
REGISTER_CUDA_ELEMENTWISE(fmod_stub, fmod_kernel_cuda, FmodFunctor, "fmod_cuda")

} // namespace reftorch::at::native
