// Mirrors: aten/src/ATen/native/cuda/IndexKernel.cu (flip_kernel)
#include <ATen/native/DispatchSize.h>
#include <ATen/native/TensorTransformations.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// out, in: (outer, n, inner); dimension n is read backwards.
template <typename word_t>
struct FlipFunctor {
  word_t* out;
  const word_t* in;
  DimShape shape;
  __device__ void operator()(int64_t i) const {
    const int64_t column = i % shape.inner, row = i / shape.inner % shape.n, outer = i / shape.inner / shape.n;
    out[i] = in[(outer * shape.n + shape.n - 1 - row) * shape.inner + column];
  }
};

void flip_kernel_cuda(const Tensor& out, const Tensor& in, DimShape shape) {
  dispatch_size(in.itemsize(), [&](auto word) {
    using word_t = decltype(word);
    gpu_for_each(
        out.device(), shape.outer * shape.n * shape.inner,
        FlipFunctor<word_t>{static_cast<word_t*>(out.data_ptr()), static_cast<const word_t*>(in.data_ptr()), shape});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(flip_stub, flip_kernel_cuda)

} // namespace reftorch::at::native
