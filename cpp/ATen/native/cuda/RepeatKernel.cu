// Mirrors: aten/src/ATen/native/cuda/Repeat.cu
#include <ATen/native/Repeat.h>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// The host needs the sum for the size of the result, so it waits for the device.
void repeat_interleave_size_kernel_cuda(const Tensor& repeats, int64_t& total) {
  total = 0;
  if (repeats.numel() > 0) {
    TORCH_CHECK(at::amin(repeats, {}).item().toLong() >= 0, "repeats can not be negative");
    total = at::sum(repeats, kLong).item().toLong();
  }
}

template <typename index_t>
struct RepeatFunctor {
  index_t* result;
  const index_t* repeats;
  const int64_t* ends; // where the places of each number end
  __device__ void operator()(int64_t i) const {
    for (int64_t place = ends[i] - repeats[i]; place < ends[i]; place++) {
      result[place] = static_cast<index_t>(i);
    }
  }
};

template <typename index_t>
void write_places(const Tensor& result, const Tensor& repeats) {
  const Tensor ends = at::cumsum(repeats, 0, kLong);
  gpu_for_each(
      result.device(), repeats.numel(),
      RepeatFunctor<index_t>{result.data_ptr<index_t>(), repeats.data_ptr<index_t>(), ends.data_ptr<int64_t>()});
}

void repeat_interleave_kernel_cuda(const Tensor& result, const Tensor& repeats) {
  if (repeats.scalar_type() == kLong) {
    write_places<int64_t>(result, repeats);
  } else {
    write_places<int32_t>(result, repeats);
  }
}

} // namespace

REGISTER_CUDA_DISPATCH(repeat_interleave_size_stub, repeat_interleave_size_kernel_cuda)
REGISTER_CUDA_DISPATCH(repeat_interleave_stub, repeat_interleave_kernel_cuda)

} // namespace reftorch::at::native
