// Mirrors: aten/src/ATen/native/cuda/BinaryLogicalOpsKernels.cu, aten/src/ATen/native/cuda/BinaryBitwiseOpsKernels.cu
//
// Logical and bitwise operations.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

void logical_and_kernel_cuda(TensorIterator& iter) {
  gpu_kernel(iter, [] GPU_LAMBDA(bool a, bool b) -> bool { return a & b; });
}
void logical_or_kernel_cuda(TensorIterator& iter) {
  gpu_kernel(iter, [] GPU_LAMBDA(bool a, bool b) -> bool { return a | b; });
}
void logical_xor_kernel_cuda(TensorIterator& iter) {
  gpu_kernel(iter, [] GPU_LAMBDA(bool a, bool b) -> bool { return a != b; });
}

void bitwise_and_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_and_cuda", [&] {
    gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a, scalar_t b) -> scalar_t { return a & b; });
  });
}
void bitwise_or_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_or_cuda", [&] {
    gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a, scalar_t b) -> scalar_t { return a | b; });
  });
}
void bitwise_xor_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_xor_cuda", [&] {
    gpu_kernel(iter, [] GPU_LAMBDA(scalar_t a, scalar_t b) -> scalar_t { return a ^ b; });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(logical_and_stub, logical_and_kernel_cuda)
REGISTER_CUDA_DISPATCH(logical_or_stub, logical_or_kernel_cuda)
REGISTER_CUDA_DISPATCH(logical_xor_stub, logical_xor_kernel_cuda)
REGISTER_CUDA_DISPATCH(bitwise_and_stub, bitwise_and_kernel_cuda)
REGISTER_CUDA_DISPATCH(bitwise_or_stub, bitwise_or_kernel_cuda)
REGISTER_CUDA_DISPATCH(bitwise_xor_stub, bitwise_xor_kernel_cuda)

} // namespace reftorch::at::native
