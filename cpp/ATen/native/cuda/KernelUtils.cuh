// Mirrors: aten/src/ATen/cuda/detail/KernelUtils.h
//
// The head of a grid-stride loop, and the launch of a kernel that has such a loop.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/cuda/Reduce.cuh>

#include <utility>

// The calling thread takes the elements i, i + step, ... below n, where step is the number of threads of the grid, so
// the loop works for any size of the grid.
#define CUDA_KERNEL_LOOP(i, n)                                                                                        \
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, i##_step = int64_t(gridDim.x) * blockDim.x; i < n; \
       i += i##_step)

namespace reftorch::at::native {

template <typename T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

// Runs a kernel whose loop goes over n elements on the device of t, in the current stream. Without elements nothing is
// launched, because CUDA reports an error for a grid without blocks.
template <typename... P, typename... A>
void launch_elements(const Tensor& t, int64_t n, void (*kernel)(P...), A&&... args) {
  if (n == 0) {
    return;
  }
  const c10::cuda::CUDAGuard guard(t.device().index());
  c10::cuda::launch(kernel, cuda::grid_size(n, kThreads), kThreads, 0, c10::cuda::getCurrentCUDAStream(),
                    std::forward<A>(args)...);
}

// The rows of a matrix, which the threads of a grid take in turn. The threads of a group share a row (see ThreadLayout)
// and combine what they found with group_reduce.
struct RowGroups {
  int64_t rows, width;
  ThreadLayout layout;

  RowGroups(int64_t rows, int64_t width)
      : rows(rows), width(width), layout(/*reduces_fastest_dim=*/true, rows, width) {}

  // Calls f(row, first) for each row of the calling thread, whose elements are first, first + layout.group, ... All
  // threads of a block take as many turns, so that they meet at the barriers. A thread that has no row in the last turn
  // gets the last row, and none of its elements.
  template <typename F>
  __device__ void for_each(const F& f) const {
    const int64_t step = int64_t(gridDim.x) * layout.outputs();
    for (int64_t begin = int64_t(blockIdx.x) * layout.outputs(); begin < rows; begin += step) {
      const int64_t row = begin + layout.output();
      f(row < rows ? row : rows - 1, row < rows ? int64_t(layout.rank()) : width);
    }
  }
};

// Runs a kernel over rows on the device of t. Its shared memory holds one shared_t for each thread.
template <typename shared_t, typename... P, typename... A>
void launch_rows(const Tensor& t, const RowGroups& groups, void (*kernel)(P...), A&&... args) {
  if (groups.rows == 0) {
    return;
  }
  const c10::cuda::CUDAGuard guard(t.device().index());
  c10::cuda::launch(kernel, cuda::grid_size(groups.rows * groups.layout.group, kThreads), kThreads,
                    groups.layout.group > 1 ? kThreads * sizeof(shared_t) : 0, c10::cuda::getCurrentCUDAStream(),
                    std::forward<A>(args)...);
}

} // namespace reftorch::at::native
