// Mirrors: aten/src/ATen/native/cuda/BinaryLogicalOpsKernels.cu, aten/src/ATen/native/cuda/BinaryBitwiseOpsKernels.cu
//
// Logical and bitwise operations.
#include <ATen/native/BinaryLogicOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(logical_and_stub, logical_and_kernel_cuda, LogicalAndFunctor, "logical_and_cuda")
REGISTER_CUDA_ELEMENTWISE(logical_or_stub, logical_or_kernel_cuda, LogicalOrFunctor, "logical_or_cuda")
REGISTER_CUDA_ELEMENTWISE(logical_xor_stub, logical_xor_kernel_cuda, LogicalXorFunctor, "logical_xor_cuda")
REGISTER_CUDA_ELEMENTWISE(bitwise_and_stub, bitwise_and_kernel_cuda, BitwiseAndFunctor, "bitwise_and_cuda")
REGISTER_CUDA_ELEMENTWISE(bitwise_or_stub, bitwise_or_kernel_cuda, BitwiseOrFunctor, "bitwise_or_cuda")
REGISTER_CUDA_ELEMENTWISE(bitwise_xor_stub, bitwise_xor_kernel_cuda, BitwiseXorFunctor, "bitwise_xor_cuda")
REGISTER_CUDA_ELEMENTWISE(lshift_stub, lshift_kernel_cuda, LeftShiftFunctor, "lshift_cuda")
REGISTER_CUDA_ELEMENTWISE(rshift_stub, rshift_kernel_cuda, RightShiftFunctor, "rshift_cuda")

} // namespace reftorch::at::native
