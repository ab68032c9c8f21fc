// Mirrors: aten/src/ATen/native/cuda/Reduce.cuh
//
// gpu_reduce_kernel<out_t, in_t>(iter, ops) reduces many elements to few, with the `ops` of native/SharedReduceOps.h.
// One thread computes an output from very few elements, or if the ops must take the elements in order (Ops::in_order).
// Otherwise a group of threads of a block shares an output, and ThreadLayout says which threads these are: the partial
// results are combined in shared memory, which halves the number of active threads in each step. If there are fewer
// outputs than the threads that run at the same time could compute, several groups share an output: each group writes
// what it found to memory, and a second kernel combines these. Left out: loads of several elements.
#pragma once

#include <ATen/native/SharedReduceOps.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <ATen/native/cuda/Loops.cuh>

#include <algorithm>
#include <new>
#include <type_traits>

namespace reftorch::at::native {

constexpr int64_t kVeryFewElements = 8;   // below this many elements, one thread computes an output
constexpr int64_t kFewElements = 256;     // up to this many elements, an output is not worth a block of threads
constexpr int64_t kFewestOfThread = 4;    // a thread reduces at least so many elements, except in a group of 8
constexpr int kFewThreads = 8;            // a thread combines the results of so many threads without a barrier between
constexpr int64_t kElementsOfThread = 16; // a thread that shares an output with other groups reduces at least so many

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

  // Whether the elements of one output are nearer to each other in memory than the elements of neighbouring outputs.
  bool reduces_fastest_dim() const {
    return kept.ndim == 0 || reduced.ndim == 0 || reduced.strides[0][0] < kept.strides[0][1];
  }

  char* out;
  const char* in;
  int64_t num_outputs, num_reduced;
  OffsetCalculator<2> kept;    // offsets in the output and in the input
  OffsetCalculator<1> reduced; // offsets in the input
};

// Which threads of a block share an output: `group` of them, a power of two, each `apart` threads after the one before.
// A warp reads its 32 elements with the fewest transactions if they are neighbours in memory, so neighbouring threads
// take neighbouring elements: those of one output if the fastest dimension is reduced, and otherwise an element each of
// neighbouring outputs. The second makes the block two-dimensional: `apart` outputs and `group` slices of the reduced
// dimension.
//
//     rows of 128 elements, x.sum(1)            columns of 257 elements, x.sum(0)
//     group 32, apart 1                         group 4, apart 32
//     threads 0 to 31:  x[0, 0] to x[0, 31]     threads 0 to 31:  x[0, 0] to x[0, 31]
//     threads 32 to 63: x[1, 0] to x[1, 31]     threads 32 to 63: x[1, 0] to x[1, 31]
struct ThreadLayout {
  ThreadLayout(bool reduces_fastest_dim, int64_t num_outputs, int64_t num_reduced) {
    if (num_reduced < kVeryFewElements) {
      return;
    }
    // A large group spends its time at the barriers. A group of 8 is not too small, because 8 floats fill a sector, the
    // least that a GPU reads.
    const int64_t threads = num_reduced / kFewestOfThread;
    if (reduces_fastest_dim) {
      group = power_of_two(num_reduced > kFewElements ? kThreads : 32, std::max<int64_t>(threads, 8));
    } else { // as many outputs as are there, a warp of them if each has many elements
      const int64_t outputs = power_of_two(num_reduced > kFewElements ? 32 : kThreads, 2 * num_outputs - 1);
      group = power_of_two(kThreads / outputs, threads);
      apart = kThreads / group;
    }
  }
  // The largest power of two that is at most n, but not more than `most`, a power of two.
  static int power_of_two(int64_t most, int64_t n) {
    while (most > n && most > 1) {
      most /= 2;
    }
    return static_cast<int>(most);
  }
  C10_HOST_DEVICE int outputs() const { // of a block
    return kThreads / group;
  }
  __device__ int output() const { // of the calling thread, counted in its block
    return threadIdx.x / (group * apart) * apart + threadIdx.x % apart;
  }
  __device__ int rank() const { // of the calling thread in its group
    return threadIdx.x / apart % group;
  }

  int group = 1, apart = 1;
};

// Combines the values of the `group` threads of a block that share an output (see ThreadLayout), and gives all of them
// the result. `group` is a power of two. Each step halves the number of threads that have a value, and needs a barrier;
// the last few values are combined by each thread alone.
template <typename T, typename Combine>
__device__ T group_reduce(T value, int group, const Combine& combine, int apart = 1) {
  if (group == 1) {
    return value;
  }
  CUDA_DYNAMIC_SHARED(T, partial);
  const int rank = threadIdx.x / apart % group;
  T* const first = partial + threadIdx.x - rank * apart;
  T* const mine = partial + threadIdx.x;
  *mine = value;
  int left = group;
  for (; left > kFewThreads; left /= 2) {
    __syncthreads();
    if (rank < left / 2) {
      store(mine, combine(c10::load(mine), c10::load(mine + left / 2 * apart)));
    }
  }
  __syncthreads();
  value = c10::load(first);
  for (int i = 1; i < left; i++) {
    value = combine(value, c10::load(first + i * apart));
  }
  __syncthreads(); // the next output writes to the same memory
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

// Each group of threads reduces one item after the other: take(item) is what the calling thread finds of it, and
// give(item, result) stores the result. All threads of a block take as many turns, so that they meet at the barriers.
template <typename Ops, typename Take, typename Give>
__device__ void reduce_items(const ThreadLayout& layout, int64_t items, const Ops& ops, const Take& take,
                             const Give& give) {
  const int64_t step = int64_t(gridDim.x) * layout.outputs();
  for (int64_t first = int64_t(blockIdx.x) * layout.outputs(); first < items; first += step) {
    const int64_t item = first + layout.output();
    auto acc = item < items ? take(item) : ops.identity();
    acc = group_reduce(acc, layout.group, CombineWith<Ops>{ops}, layout.apart);
    if (item < items && layout.rank() == 0) {
      give(item, acc);
    }
  }
}

// A group of threads works on one part of one output. An output has one part, or the result of each part is written to
// `partials` (parts, outputs).
template <typename out_t, typename in_t, typename Ops>
__global__ void reduce_kernel(ReduceConfig config, ThreadLayout layout, int64_t parts, typename Ops::acc_t* partials,
                              Ops ops) {
  const int64_t outputs = config.num_outputs;
  const auto take = [&](int64_t item) {
    int64_t place[2], inner;
    config.kept.get(item % outputs, place);
    auto acc = ops.identity();
    for (int64_t i = item / outputs * layout.group + layout.rank(); i < config.num_reduced; i += parts * layout.group) {
      config.reduced.get(i, &inner);
      acc = ops.reduce(acc, c10::load<in_t>(config.in + place[1] + inner));
    }
    return acc;
  };
  const auto give = [&](int64_t item, const typename Ops::acc_t& acc) {
    if (parts > 1) {
      partials[item] = acc;
    } else {
      int64_t place[2];
      config.kept.get(item, place);
      *reinterpret_cast<out_t*>(config.out + place[0]) = ops.project(acc);
    }
  };
  reduce_items(layout, outputs * parts, ops, take, give);
}

// Combines the parts of each output.
template <typename out_t, typename Ops>
__global__ void combine_parts_kernel(ReduceConfig config, ThreadLayout layout, int64_t parts,
                                     const typename Ops::acc_t* partials, Ops ops) {
  const auto take = [&](int64_t output) {
    auto acc = ops.identity();
    for (int64_t part = layout.rank(); part < parts; part += layout.group) {
      acc = ops.combine(acc, partials[part * config.num_outputs + output]);
    }
    return acc;
  };
  const auto give = [&](int64_t output, const typename Ops::acc_t& acc) {
    int64_t place[2];
    config.kept.get(output, place);
    *reinterpret_cast<out_t*>(config.out + place[0]) = ops.project(acc);
  };
  reduce_items(layout, config.num_outputs, ops, take, give);
}

template <typename acc_t, typename... P, typename... A>
void launch_reduction(const ThreadLayout& layout, int64_t items, void (*kernel)(P...), A&&... args) {
  c10::cuda::launch(kernel, cuda::grid_size(items * layout.group, kThreads), kThreads,
                    layout.group > 1 ? kThreads * sizeof(acc_t) : 0, c10::cuda::getCurrentCUDAStream(),
                    std::forward<A>(args)...);
}

template <typename out_t, typename in_t, typename Ops>
void gpu_reduce_kernel(TensorIterator& iter, const Ops& ops) {
  using acc_t = typename Ops::acc_t;
  static_assert(std::is_trivially_destructible_v<acc_t>, "the kernels write results of parts to raw memory");
  const ReduceConfig config(iter);
  const int64_t outputs = config.num_outputs;
  const ThreadLayout layout(config.reduces_fastest_dim(), outputs, Ops::in_order ? 1 : config.num_reduced);
  const c10::cuda::CUDAGuard guard(iter.tensor(0).device().index());
  int64_t parts = 1;
  if (layout.group > 1 && config.num_reduced > kFewElements) {
    const int64_t groups = cuda::grid_size(outputs * config.num_reduced, kThreads) * int64_t(layout.outputs());
    parts = std::clamp<int64_t>(config.num_reduced / (kElementsOfThread * layout.group), 1,
                                std::max<int64_t>(1, groups / outputs));
  }
  c10::DataPtr memory;
  if (parts > 1) { // freed below, before the kernels have run: the next owner's work comes later in the same stream
    memory = c10::cuda::CUDACachingAllocator::get()->allocate(outputs * parts * sizeof(acc_t));
  }
  auto* partials = static_cast<acc_t*>(memory.get());
  launch_reduction<acc_t>(layout, outputs * parts, reduce_kernel<out_t, in_t, Ops>, config, layout, parts, partials,
                          ops);
  if (parts > 1) {
    const ThreadLayout of_parts(/*reduces_fastest_dim=*/outputs == 1, outputs, parts);
    launch_reduction<acc_t>(of_parts, outputs, combine_parts_kernel<out_t, Ops>, config, of_parts, parts, partials,
                            ops);
  }
}

} // namespace reftorch::at::native
