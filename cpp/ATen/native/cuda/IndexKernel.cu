// Mirrors: aten/src/ATen/native/cuda/IndexKernel.cu, aten/src/ATen/native/cuda/ScatterGatherKernel.cu
//
// Reading at places given by a tensor of indices: x[indices], gather, take. A kernel cannot throw. An index out of
// range fails an assertion on the device, and a later call of CUDA reports the failure. Left out: all that writes at
// such places, and what has a result whose shape depends on the elements (nonzero, masked_select).
#include <ATen/native/IndexKernel.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// Places in memory, by an index each. See IndexRule.
struct Offset {
  IndexBounds bounds;
  int64_t stride;

  explicit Offset(const IndexRule& rule) : bounds(rule), stride(rule.stride_bytes) {}
  __device__ int64_t operator()(int64_t index) const {
    CUDA_KERNEL_ASSERT(bounds.contain(index) && "index out of bounds");
    return bounds.wrap(index) * stride;
  }
};

// operands: written, read, indices
template <typename word_t>
__global__ void gather_kernel(Operands<3> operands, int64_t n, Offset offset) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t places[3];
    operands.offsets(i, places);
    const int64_t index = *reinterpret_cast<const int64_t*>(operands.at(2, places[2]));
    *reinterpret_cast<word_t*>(operands.data[0] + places[0]) =
        *reinterpret_cast<const word_t*>(operands.at(1, places[1]) + offset(index));
  }
}

// written: (n / width, width); read: (size, width); indices: (n / width). written[i] = read[indices[i]]
template <typename word_t>
__global__ void gather_rows_kernel(word_t* written, const word_t* read, const int64_t* indices, int64_t width,
                                   int64_t n, Offset row) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    written[i] = read[row(indices[i / width]) * width + i % width];
  }
}

// offsets, index: (n)
__global__ void add_offsets_kernel(int64_t* offsets, const int64_t* index, int64_t n, Offset offset) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    offsets[i] += offset(index[i]);
  }
}

// Runs f with an unsigned type of the size of an element: a move depends on nothing else.
template <typename F>
void dispatch_size(size_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

void index_kernel_cuda(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule) {
  const int64_t n = written.numel();
  if (n == 0) {
    return;
  }
  // All operands are inputs, because neither the overlap checks nor the dtype rules of ordinary ops apply.
  const TensorIterator iter = TensorIteratorConfig().add_input(written).add_input(read).add_input(indices).build();
  const c10::cuda::CUDAGuard guard(written.device().index());
  dispatch_size(written.itemsize(), [&](auto word) {
    c10::cuda::launch(gather_kernel<decltype(word)>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), Operands<3>(iter), n, Offset(rule));
  });
}

void index_rows_kernel_cuda(const Tensor& written, const Tensor& read, const Tensor& indices, IndexRule::Use use) {
  const int64_t n = written.numel(), size = read.sizes()[0];
  if (n == 0) {
    return;
  }
  IndexRule rule;
  rule.use = use;
  rule.size = size;
  const c10::cuda::CUDAGuard guard(written.device().index());
  dispatch_size(written.itemsize(), [&](auto word) {
    using word_t = decltype(word);
    c10::cuda::launch(gather_rows_kernel<word_t>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), static_cast<word_t*>(written.data_ptr()),
                      static_cast<const word_t*>(read.data_ptr()), indices.data_ptr<int64_t>(), n / indices.numel(), n,
                      Offset(rule));
  });
}

void add_offsets_kernel_cuda(const Tensor& offsets, const Tensor& index, int64_t /*number*/, int64_t size,
                             int64_t stride_bytes) {
  const int64_t n = offsets.numel();
  if (n == 0) {
    return;
  }
  IndexRule rule;
  rule.size = size;
  rule.stride_bytes = stride_bytes;
  const c10::cuda::CUDAGuard guard(offsets.device().index());
  c10::cuda::launch(add_offsets_kernel, cuda::grid_size(n, kThreads), kThreads, 0, c10::cuda::getCurrentCUDAStream(),
                    offsets.data_ptr<int64_t>(), index.data_ptr<int64_t>(), n, Offset(rule));
}

} // namespace

REGISTER_CUDA_DISPATCH(index_stub, index_kernel_cuda)
REGISTER_CUDA_DISPATCH(index_rows_stub, index_rows_kernel_cuda)
REGISTER_CUDA_DISPATCH(add_offsets_stub, add_offsets_kernel_cuda)

} // namespace reftorch::at::native
