// Mirrors: aten/src/ATen/native/cuda/Reduce.cuh
//
// gpu_reduce_kernel<out_t, in_t>(iter, ops) reduces many elements to few, with the `ops` of native/SharedReduceOps.h.
// One thread computes an output from few elements, or if the ops must take the elements in order (Ops::in_order).
// Otherwise one block computes an output: each thread reduces every kThreads-th element, and then the partial results
// are combined in shared memory, which halves the number of active threads in each step. Left out: outputs that several
// blocks share, loads of several elements.
#pragma once

#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cuda/Loops.cuh>

#include <new>

namespace reftorch::at::native {

constexpr int64_t kFewElements = 256; // up to this many elements, one thread computes an output

// The dimensions of a reduction, taken from the iterator: the kept dimensions (one output for each index) and the
// reduced dimensions.
struct ReduceConfig {
  explicit ReduceConfig(const TensorIterator& iter)
      : out(static_cast<char*>(iter.data_ptr(0))), in(static_cast<const char*>(iter.data_ptr(1))) {
    for (int d = 0; d < iter.ndim(); d++) {
      const int64_t size = iter.shape()[d];
      if (size != 1 && iter.strides(0)[d] == 0) {
        reduced.add_dim(size, [&](int) { return iter.strides(1)[d]; });
      } else if (size != 1) {
        kept.add_dim(size, [&](int k) { return iter.strides(k)[d]; });
      }
    }
    num_outputs = kept.numel();
    num_reduced = reduced.numel();
  }

  char* out;
  const char* in;
  int64_t num_outputs, num_reduced;
  OffsetCalculator<2> kept;    // offsets in the output and in the input
  OffsetCalculator<1> reduced; // offsets in the input
};

// Combines the values of `group` neighbouring threads of a block. `group` is a power of two. The first thread of the
// group gets the result.
template <typename T, typename Combine>
__device__ T group_reduce(T value, int group, const Combine& combine) {
  CUDA_DYNAMIC_SHARED(T, partial);
  partial[threadIdx.x] = value;
  for (int half = group / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x % group) < half) {
      partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
  }
  const T result = partial[threadIdx.x];
  __syncthreads(); // the next output writes to the same memory
  return result;
}

template <typename Ops>
struct CombineWith {
  Ops ops;
  C10_HOST_DEVICE typename Ops::acc_t operator()(typename Ops::acc_t a, typename Ops::acc_t b) const {
    return ops.combine(a, b);
  }
};

// `group` is the number of threads that work on one output, 1 or kThreads.
template <typename out_t, typename in_t, typename Ops>
__global__ void reduce_kernel(ReduceConfig config, int group, Ops ops) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x / group;
  int64_t output = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / group;
  for (; output < config.num_outputs; output += step) {
    int64_t place[2], inner;
    config.kept.get(output, place);
    auto acc = ops.identity();
    for (int64_t i = threadIdx.x % group; i < config.num_reduced; i += group) {
      config.reduced.get(i, &inner);
      acc = ops.reduce(acc, *reinterpret_cast<const in_t*>(config.in + place[1] + inner));
    }
    if (group > 1) {
      acc = group_reduce(acc, group, CombineWith<Ops>{ops});
    }
    if (threadIdx.x % group == 0) {
      *reinterpret_cast<out_t*>(config.out + place[0]) = ops.project(acc);
    }
  }
}

template <typename out_t, typename in_t, typename Ops>
void gpu_reduce_kernel(TensorIterator& iter, const Ops& ops) {
  const ReduceConfig config(iter);
  const int group = config.num_reduced <= kFewElements || Ops::in_order ? 1 : kThreads;
  const c10::cuda::CUDAGuard guard(iter.tensor(0).device().index());
  const size_t shared_bytes = group > 1 ? kThreads * sizeof(typename Ops::acc_t) : 0;
  c10::cuda::launch(reduce_kernel<out_t, in_t, Ops>, cuda::grid_size(config.num_outputs * group, kThreads), kThreads,
                    shared_bytes, c10::cuda::getCurrentCUDAStream(), config, group, ops);
}

} // namespace reftorch::at::native
