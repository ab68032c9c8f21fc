// Mirrors: aten/src/ATen/native/cuda/TensorCompare.cu
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// The elements are only copied, so the kernel depends on their size and not on their dtype.
template <typename word_t>
void where_kernel_width(TensorIterator& iter) {
  gpu_kernel(iter,
             [] GPU_LAMBDA(bool condition, word_t self, word_t other) -> word_t { return condition ? self : other; });
}

void where_kernel_cuda(TensorIterator& iter) {
  switch (c10::elementSize(iter.dtype())) {
    case 1: return where_kernel_width<uint8_t>(iter);
    case 2: return where_kernel_width<uint16_t>(iter);
    case 4: return where_kernel_width<uint32_t>(iter);
    default: return where_kernel_width<uint64_t>(iter);
  }
}

// A missing bound is replaced by one that no value exceeds.
void clamp_scalar_kernel_cuda(TensorIterator& iter, const std::optional<Scalar>& min_scalar,
                              const std::optional<Scalar>& max_scalar) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "clamp_scalar_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t min = min_scalar.has_value() ? opmath_t(min_scalar->to<scalar_t>()) : lower_bound<opmath_t>();
    const opmath_t max = max_scalar.has_value() ? opmath_t(max_scalar->to<scalar_t>()) : upper_bound<opmath_t>();
    gpu_kernel<scalar_t>(iter, [min, max] GPU_LAMBDA(opmath_t a) -> opmath_t { return clamp(a, min, max); });
  });
}

void clamp_kernel_cuda(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "clamp_cuda", [&] {
    using opmath_t = opmath_type<scalar_t>;
    gpu_kernel<scalar_t>(
        iter, [] GPU_LAMBDA(opmath_t a, opmath_t min, opmath_t max) -> opmath_t { return clamp_nan(a, min, max); });
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(where_kernel, where_kernel_cuda)
REGISTER_CUDA_DISPATCH(clamp_scalar_stub, clamp_scalar_kernel_cuda)
REGISTER_CUDA_DISPATCH(clamp_stub, clamp_kernel_cuda)

} // namespace reftorch::at::native
