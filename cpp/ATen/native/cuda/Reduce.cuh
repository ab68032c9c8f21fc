// Mirrors: aten/src/ATen/native/cuda/Reduce.cuh
//
// gpu_reduce_kernel<out_t, in_t>(iter, ops) reduces many elements to few, with the `ops` of native/SharedReduceOps.h.
// One thread computes an output from few elements, or if the ops must take the elements in order (Ops::in_order).
// Otherwise a block works on an output: each thread reduces every kThreads-th element, and then the partial results are
// combined in shared memory, which halves the number of active threads in each step. If there are fewer outputs than
// blocks that run at the same time, several blocks share an output: each block writes what it found to memory, and a
// second kernel combines these. Left out: loads of several elements.
#pragma once

#include <ATen/native/SharedReduceOps.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <ATen/native/cuda/Loops.cuh>

#include <algorithm>
#include <new>
#include <type_traits>

namespace reftorch::at::native {

constexpr int64_t kFewElements = 256;              // up to this many elements, one thread computes an output
constexpr int64_t kElementsOfPart = 16 * kThreads; // a block that shares an output reduces at least this many elements

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

// group_reduce, with the result for all threads of the group.
template <typename T, typename Combine>
__device__ T group_all_reduce(T value, int group, const Combine& combine) {
  if (group == 1) {
    return value;
  }
  value = group_reduce(value, group, combine);
  CUDA_DYNAMIC_SHARED(T, shared);
  if (threadIdx.x % group == 0) {
    shared[threadIdx.x] = value;
  }
  __syncthreads();
  value = shared[threadIdx.x / group * group];
  __syncthreads(); // the next reduction writes to the same memory
  return value;
}

template <typename T>
struct Sum {
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

template <typename Ops>
struct CombineWith {
  Ops ops;
  C10_HOST_DEVICE typename Ops::acc_t operator()(typename Ops::acc_t a, typename Ops::acc_t b) const {
    return ops.combine(a, b);
  }
};

// `group` threads, 1 or kThreads, work on one part of one output. An output has one part, or the result of each part is
// written to `partials` (outputs, parts).
template <typename out_t, typename in_t, typename Ops>
__global__ void reduce_kernel(ReduceConfig config, int group, int64_t parts, typename Ops::acc_t* partials, Ops ops) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x / group;
  int64_t item = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / group;
  for (; item < config.num_outputs * parts; item += step) {
    int64_t place[2], inner;
    config.kept.get(item / parts, place);
    auto acc = ops.identity();
    for (int64_t i = item % parts * group + threadIdx.x % group; i < config.num_reduced; i += parts * group) {
      config.reduced.get(i, &inner);
      acc = ops.reduce(acc, c10::load<in_t>(config.in + place[1] + inner));
    }
    if (group > 1) {
      acc = group_reduce(acc, group, CombineWith<Ops>{ops});
    }
    if (threadIdx.x % group == 0) {
      if (parts > 1) {
        partials[item] = acc;
      } else {
        *reinterpret_cast<out_t*>(config.out + place[0]) = ops.project(acc);
      }
    }
  }
}

// One block combines the parts of an output.
template <typename out_t, typename Ops>
__global__ void combine_parts_kernel(ReduceConfig config, int64_t parts, const typename Ops::acc_t* partials, Ops ops) {
  for (int64_t output = blockIdx.x; output < config.num_outputs; output += gridDim.x) {
    int64_t place[2];
    config.kept.get(output, place);
    auto acc = ops.identity();
    for (int64_t i = threadIdx.x; i < parts; i += kThreads) {
      acc = ops.combine(acc, partials[output * parts + i]);
    }
    acc = group_reduce(acc, kThreads, CombineWith<Ops>{ops});
    if (threadIdx.x == 0) {
      *reinterpret_cast<out_t*>(config.out + place[0]) = ops.project(acc);
    }
  }
}

template <typename out_t, typename in_t, typename Ops>
void gpu_reduce_kernel(TensorIterator& iter, const Ops& ops) {
  using acc_t = typename Ops::acc_t;
  static_assert(std::is_trivially_copyable_v<acc_t>, "the kernels write results of parts to raw memory");
  const ReduceConfig config(iter);
  const int group = config.num_reduced <= kFewElements || Ops::in_order ? 1 : kThreads;
  const c10::cuda::CUDAGuard guard(iter.tensor(0).device().index());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const size_t shared_bytes = group > 1 ? kThreads * sizeof(acc_t) : 0;
  int64_t parts = 1;
  if (group > 1) {
    const int64_t blocks = cuda::grid_size(config.num_outputs * config.num_reduced, kThreads);
    parts =
        std::clamp<int64_t>(config.num_reduced / kElementsOfPart, 1, std::max<int64_t>(1, blocks / config.num_outputs));
  }
  c10::DataPtr memory;
  if (parts > 1) { // freed below, before the kernels have run: the next owner's work comes later in the same stream
    memory = c10::cuda::CUDACachingAllocator::get()->allocate(config.num_outputs * parts * sizeof(acc_t));
  }
  auto* partials = static_cast<acc_t*>(memory.get());
  c10::cuda::launch(reduce_kernel<out_t, in_t, Ops>, cuda::grid_size(config.num_outputs * parts * group, kThreads),
                    kThreads, shared_bytes, stream, config, group, parts, partials, ops);
  if (parts > 1) {
    c10::cuda::launch(combine_parts_kernel<out_t, Ops>, cuda::grid_size(config.num_outputs * kThreads, kThreads),
                      kThreads, shared_bytes, stream, config, parts, partials, ops);
  }
}

} // namespace reftorch::at::native
