// Mirrors: aten/src/ATen/native/cuda/FillKernel.cu
#include <ATen/native/Fill.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

template <typename scalar_t>
struct FillFunctor {
  scalar_t value;
  C10_HOST_DEVICE scalar_t operator()() const {
    return value;
  }
};

void fill_kernel_cuda(TensorIterator& iter, const Scalar& value_scalar) {
  dispatch<AllTypesAndBool>(iter.dtype(), "fill_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    // As on the CPU, a number that is too large for a 16-bit float becomes infinity if the tensor has one element, and
    // raises RuntimeError if it has more.
    constexpr bool is_reduced = !std::is_same_v<scalar_t, opmath_type<scalar_t>>;
    const bool rounds = is_reduced && iter.numel() == 1;
    const auto value = rounds ? value_scalar.wrapped_to<scalar_t>() : value_scalar.to<scalar_t>();
    gpu_kernel(iter, FillFunctor<scalar_t>{value});
  });
}

void zero_kernel_cuda(const Tensor& self) {
  const c10::cuda::CUDAGuard guard(self.device().index());
  C10_CUDA_CHECK(
      cudaMemsetAsync(self.data_ptr(), 0, self.numel() * self.itemsize(), c10::cuda::getCurrentCUDAStream()));
}

} // namespace

REGISTER_CUDA_DISPATCH(fill_stub, fill_kernel_cuda)
REGISTER_CUDA_DISPATCH(zero_stub, zero_kernel_cuda)

} // namespace reftorch::at::native
