// Mirrors: aten/src/ATen/native/cuda/BinaryMulKernel.cu, aten/src/ATen/native/cuda/MaxMinElementwiseKernel.cu, aten/src/ATen/native/cuda/BinaryMiscBackwardOpsKernels.cu
//
// Sums, products, maximum and minimum. Division is in BinaryOpsDivKernel.cu, comparisons are in
// BinaryLogicOpsCompareKernel.cu, and bitwise operations in BinaryLogicOpsKernel.cu.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinaryOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(add_stub, add_kernel_cuda, AddFunctor, "add_cuda")
REGISTER_CUDA_ELEMENTWISE(mul_stub, mul_kernel_cuda, MulFunctor, "mul_cuda")
REGISTER_CUDA_ELEMENTWISE(maximum_stub, maximum_kernel_cuda, MaximumFunctor, "max_elementwise_cuda")
REGISTER_CUDA_ELEMENTWISE(minimum_stub, minimum_kernel_cuda, MinimumFunctor, "min_elementwise_cuda")
REGISTER_CUDA_ELEMENTWISE(sigmoid_backward_stub, sigmoid_backward_kernel_cuda, SigmoidBackwardFunctor,
                          "sigmoid_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(tanh_backward_stub, tanh_backward_kernel_cuda, TanhBackwardFunctor, "tanh_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(mse_stub, mse_kernel_cuda, MseFunctor, "mse_cuda")
REGISTER_CUDA_ELEMENTWISE(mse_backward_stub, mse_backward_kernel_cuda, MseBackwardFunctor, "mse_backward_cuda")

} // namespace reftorch::at::native
