// Mirrors: aten/src/ATen/native/cuda/TensorCompare.cu
#include <ATen/native/DispatchSize.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/TensorCompareFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// Elements are only moved, so the kernel depends on their width and not on their dtype.
void where_kernel_cuda(TensorIterator& iter) {
  dispatch_size(c10::elementSize(iter.dtype()), [&](auto word) { gpu_kernel(iter, WhereFunctor<decltype(word)>()); });
}

} // namespace

REGISTER_CUDA_DISPATCH(where_kernel, where_kernel_cuda)
REGISTER_CUDA_ELEMENTWISE(clamp_scalar_stub, clamp_scalar_kernel_cuda, ClampScalarFunctor, "clamp_scalar_cuda")
REGISTER_CUDA_ELEMENTWISE(clamp_stub, clamp_kernel_cuda, ClampFunctor, "clamp_cuda")

} // namespace reftorch::at::native
