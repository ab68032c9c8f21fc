// Mirrors: nothing in PyTorch: kernels with at most one fault each, which the watcher of kernels must find
//
// All kernels have the same parameters. `// fault` marks the line that a report names, `// cost` a line whose cost
// device_watch.py knows.
#include <c10/cuda/CUDALaunch.h>
#include <c10/util/BFloat16.h>
#include <cuda_fp16.h>

#include <map>
#include <string>

namespace {

// ---- sums of the elements of a block, in shared memory ----
__global__ void sum_right(const float* x, float* y, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    y[blockIdx.x] = s[0];
  }
}
__global__ void sum_without_barriers(const float* x, float* y, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half]; // fault
    }
  }
  if (t == 0) {
    y[blockIdx.x] = s[0];
  }
}
__global__ void sum_without_the_first_barrier(const float* x, float* y, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t]; // fault: with the next one
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half]; // fault
    }
    __syncthreads();
  }
  if (t == 0) {
    y[blockIdx.x] = s[0];
  }
}
__global__ void sum_of_a_warp(const float* x, float* y, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const float v = t < half ? s[t + half] : 0;
    __syncwarp();
    s[t] += v;
    __syncwarp();
  }
  y[t] = s[0];
}
// Before GPUs of 2017, the lanes of a warp went in step, and this was right.
__global__ void sum_of_a_warp_in_step(const float* x, float* y, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half]; // fault
    }
  }
  if (t == 0) {
    y[0] = s[0];
  }
}
__global__ void sum_by_shuffles(const float* x, float* y, int n) {
  float v = x[threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, delta);
  }
  if (threadIdx.x == 0) {
    y[0] = v;
  }
}

// ---- all threads add to one number ----
__global__ void total_by_plain_adds(const float* x, float* y, int n) {
  y[0] += x[blockIdx.x * blockDim.x + threadIdx.x]; // fault
}
__global__ void total_by_atomic_adds(const float* x, float* y, int n) {
  atomicAdd(y, x[blockIdx.x * blockDim.x + threadIdx.x]); // cost
}
__global__ void total_by_compare_and_swap(const float* x, float* y, int n) {
  auto* const word = reinterpret_cast<unsigned*>(y);
  unsigned seen = *const_cast<volatile unsigned*>(word), found;
  while (true) {
    const float sum = __uint_as_float(seen) + x[blockIdx.x * blockDim.x + threadIdx.x];
    if ((found = atomicCAS(word, seen, __float_as_uint(sum))) == seen) {
      break;
    }
    seen = found;
  }
}
__global__ void volatile_instead_of_a_barrier(const float* x, float* y, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];                                           // fault
  y[threadIdx.x] = *const_cast<volatile float*>(&s[(threadIdx.x + 1) % 32]); // fault
}

// ---- memory that is not there ----
__global__ void no_guard(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2; // fault
}
__global__ void element_before_the_first(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i - 1]; // fault
  }
}
__global__ void missing_halo(const float* x, float* y, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x + 1;
  s[t] = x[threadIdx.x];
  if (threadIdx.x == 0) {
    s[0] = 0;
  }
  __syncthreads();
  const float right = s[t + 1]; // fault
  y[threadIdx.x] = s[t - 1] + right;
}
__global__ void doubled(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = x[i]; // fault: of the caller, in some tests
    y[i] = 2 * v;
  }
}
__global__ void dynamic_memory_too_small(const float* x, float* y, int n) {
  CUDA_DYNAMIC_SHARED(float, s);
  s[threadIdx.x] = 1; // fault
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

// ---- threads that do not meet ----
__global__ void barrier_of_some(const float* x, float* y, int n) {
  if (threadIdx.x < 16) {
    __syncthreads(); // fault
  }
  y[threadIdx.x] = 1;
}
__global__ void two_barriers(const float* x, float* y, int n) {
  if (threadIdx.x < 16) {
    __syncthreads(); // fault
  } else {
    __syncthreads();
  }
  y[threadIdx.x] = 1;
}
__global__ void barrier_against_shuffle(const float* x, float* y, int n) {
  if (threadIdx.x < 16) {
    __syncthreads(); // fault
  } else {
    y[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 0);
  }
}
__global__ void endless(const float* x, float* y, int n) {
  int i = n;
  while (i > 0) { // fault
    i = n;        // fault
  }
}

// ---- costs ----
__global__ void copy_with_stride(const float* x, float* y, int n) {
  y[threadIdx.x] = x[threadIdx.x * n]; // cost
}
__global__ void same_for_all(const float* x, float* y, int n) {
  y[threadIdx.x] = x[0]; // cost
}
__global__ void transpose_naive(const float* x, float* y, int n) {
  const int column = blockIdx.x * 32 + threadIdx.x % 32, row = threadIdx.x / 32;
  y[column * n + row] = x[row * n + column]; // cost
}
template <int kWidth>
__device__ void column_of_tile(const float* x, float* y) {
  __shared__ float tile[32][kWidth];
  for (int row = 0; row < 32; row++) {
    tile[row][threadIdx.x] = x[row * 32 + threadIdx.x];
  }
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x][0]; // cost
}
__global__ void tile_of_32(const float* x, float* y, int n) {
  column_of_tile<32>(x, y);
}
__global__ void tile_of_33(const float* x, float* y, int n) {
  column_of_tile<33>(x, y);
}
__global__ void even_and_odd(const float* x, float* y, int n) {
  float v = 0;
  if (threadIdx.x % 2 == 0) {
    v = 3; // cost
  } else {
    v = 1;
  }
  y[threadIdx.x] = v; // the lanes meet again
}

// ---- objects of a class: gcc reports no call that stores one, and none that gets one by value ----
using reftorch::c10::BFloat16;
__device__ BFloat16 twice(BFloat16 value) {
  return float(value) * 2;
}
__global__ void bfloat16_by_calls(const float* x, float* y, int n) {
  __shared__ BFloat16 s[32];
  const int t = threadIdx.x;
  s[t] = twice(x[t]);
  y[t] = s[t];
}
__global__ void bfloat16_of_two_threads(const float* x, float* y, int n) {
  BFloat16* out = reinterpret_cast<BFloat16*>(y);
  out[threadIdx.x / 2] = twice(x[threadIdx.x]); // fault
}
__global__ void half_of_two_threads(const float* x, float* y, int n) {
  __half* out = reinterpret_cast<__half*>(y);
  out[threadIdx.x / 2] = __float2half(x[threadIdx.x]); // fault
}
__global__ void half_outside(const float* x, float* y, int n) {
  __half* last = reinterpret_cast<__half*>(y + n) - 1;
  last[threadIdx.x] = __float2half(x[threadIdx.x]); // fault
}
__global__ void half_that_nobody_wrote(const float* x, float* y, int n) {
  __shared__ __half s[32];
  if (threadIdx.x > 0) {
    s[threadIdx.x] = __float2half(x[threadIdx.x]);
  }
  y[threadIdx.x] = __half2float(s[threadIdx.x]); // fault
}
__global__ void vector_of_two_threads(const float* x, float* y, int n) {
  float2* out = reinterpret_cast<float2*>(y);
  out[threadIdx.x / 4] = make_float2(x[threadIdx.x], 0); // fault
}
__global__ void vectors_by_calls(const float* x, float* y, int n) {
  __shared__ float2 s[32];
  const int t = threadIdx.x;
  s[t] = make_float2(x[t], 0);
  y[t] = s[t].x;
}

// ---- a struct of a learner's own ----
struct Pair {
  float a, b;
};
__device__ Pair pair_of(float x) {
  return {x, x};
}
__global__ void struct_by_variable_of_two_threads(const float* x, float* y, int n) {
  Pair* out = reinterpret_cast<Pair*>(y);
  Pair p = pair_of(x[threadIdx.x]);
  out[threadIdx.x / 4] = p; // fault
}
// Not seen: see Note [Stores of what a call returns].
__global__ void struct_by_call_of_two_threads(const float* x, float* y, int n) {
  Pair* out = reinterpret_cast<Pair*>(y);
  out[threadIdx.x / 4] = pair_of(x[threadIdx.x]);
}
__global__ void struct_by_call_that_is_read(const float* x, float* y, int n) {
  __shared__ Pair s[32];
  s[threadIdx.x] = pair_of(x[threadIdx.x]);
  y[threadIdx.x] = s[threadIdx.x].a; // fault
}

// ---- stores of one value, and words ----
__global__ void one_value_by_volatile_stores(const float* x, float* y, int n) {
  *const_cast<volatile float*>(y) = 3;
}
__global__ void volatile_and_plain_store(const float* x, float* y, int n) {
  if (threadIdx.x == 0) {
    *const_cast<volatile float*>(y) = 3;
  } else {
    *y = 3; // fault
  }
}
__global__ void word_around_a_half(const float* x, float* y, int n) { // half n - 1 of y
  atomicAdd(reinterpret_cast<unsigned*>(y) + (n - 1) / 2, 0u);        // fault
}

using Kernel = void (*)(const float*, float*, int);
#define NAMED(name) {#name, name}
const std::map<std::string, Kernel> kernels = {
    NAMED(sum_right),
    NAMED(sum_without_barriers),
    NAMED(sum_without_the_first_barrier),
    NAMED(sum_of_a_warp),
    NAMED(sum_of_a_warp_in_step),
    NAMED(sum_by_shuffles),
    NAMED(total_by_plain_adds),
    NAMED(total_by_atomic_adds),
    NAMED(total_by_compare_and_swap),
    NAMED(volatile_instead_of_a_barrier),
    NAMED(no_guard),
    NAMED(element_before_the_first),
    NAMED(missing_halo),
    NAMED(doubled),
    NAMED(dynamic_memory_too_small),
    NAMED(barrier_of_some),
    NAMED(two_barriers),
    NAMED(barrier_against_shuffle),
    NAMED(endless),
    NAMED(bfloat16_by_calls),
    NAMED(bfloat16_of_two_threads),
    NAMED(half_of_two_threads),
    NAMED(half_outside),
    NAMED(half_that_nobody_wrote),
    NAMED(vector_of_two_threads),
    NAMED(vectors_by_calls),
    NAMED(struct_by_variable_of_two_threads),
    NAMED(struct_by_call_of_two_threads),
    NAMED(struct_by_call_that_is_read),
    NAMED(one_value_by_volatile_stores),
    NAMED(volatile_and_plain_store),
    NAMED(word_around_a_half),
    NAMED(copy_with_stride),
    NAMED(same_for_all),
    NAMED(transpose_naive),
    NAMED(tile_of_32),
    NAMED(tile_of_33),
    NAMED(even_and_odd),
};

} // namespace

extern "C" __attribute__((visibility("default"))) int launch_kernel(const char* name, unsigned grid, unsigned block,
                                                                    size_t shared, void* stream, const float* x,
                                                                    float* y, int n) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = static_cast<cudaStream_t>(stream);
  return cudaLaunchKernelEx(&config, kernels.at(name), x, y, n);
}
