// Mirrors: aten/src/ATen/native/cuda/Shape.cu (CatArrayBatchedCopy)
//
// cat: each tensor fills a strip of columns of the result. Left out: one launch for several tensors.
#include <ATen/native/DispatchSize.h>
#include <ATen/native/TensorJoin.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// from: (rows, length), dense. Its rows go to `to`, where row i begins at i * pitch. n: rows * length.
template <typename word_t>
__global__ void copy_rows_kernel(word_t* to, const word_t* from, int64_t length, int64_t pitch, int64_t n) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    to[i / length * pitch + i % length] = from[i];
  }
}

// Elements are moved and not computed with, so only their width matters.
template <typename word_t>
void cat_words(const Tensor& out, TensorList tensors, int64_t outer) {
  const c10::cuda::CUDAGuard guard(out.device().index());
  auto* to = static_cast<word_t*>(out.data_ptr());
  for (const Tensor& t : tensors) {
    const int64_t n = t.numel(), length = n / outer;
    if (n > 0) {
      c10::cuda::launch(copy_rows_kernel<word_t>, cuda::grid_size(n, kThreads), kThreads, 0,
                        c10::cuda::getCurrentCUDAStream(), to, static_cast<const word_t*>(t.data_ptr()), length,
                        out.numel() / outer, n);
      to += length;
    }
  }
}

void cat_serial_kernel_cuda(const Tensor& out, TensorList tensors, int64_t outer) {
  dispatch_size(out.itemsize(), [&](auto word) { cat_words<decltype(word)>(out, tensors, outer); });
}

} // namespace

REGISTER_CUDA_DISPATCH(cat_serial_stub, cat_serial_kernel_cuda)

} // namespace reftorch::at::native
