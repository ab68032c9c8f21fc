// Mirrors: aten/src/ATen/native/cuda/Loops.cuh, aten/src/ATen/native/cuda/CUDALoops.cuh
//
// gpu_kernel(iter, op) runs an elementwise op on CUDA, as cpu_kernel(iter, op) of native/cpu/Loops.h does on the CPU:
// `op` maps one element of each input to one element of the output, and this file makes the kernel around `op`. In
// gpu_kernel<scalar_t>(iter, op) the elements are scalar_t, and `op` computes in opmath_type<scalar_t>. Left out:
// several outputs, loads of four elements at a time.
//
// `op` is an object of a class with a name. nvcc accepts a lambda for the GPU only outside of generic lambdas, and the
// body of dispatch is one.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/detail/FunctionTraits.h>
#include <c10/cuda/CUDALaunch.h>
#include <c10/util/Load.h>
#include <ATen/native/cuda/OffsetCalculator.cuh>

#include <cstring>

namespace reftorch::at::native {

constexpr int kThreads = 128; // the number of threads of a block

// The description of the N operands that a kernel gets, the output first.
template <int N>
struct Operands {
  char* data[N];
  // A 0-dim CPU tensor is passed as a number: its bytes are part of the kernel's arguments.
  uint64_t numbers[N] = {};
  static_assert(c10::kMaxElementSize <= sizeof(uint64_t), "the bytes of a larger number would be cut");
  bool is_number[N] = {};
  bool dense = true; // all operands except numbers are dense in the same order, so the calculator is not needed
  int64_t itemsizes[N];
  OffsetCalculator<N> calculator;

  explicit Operands(const TensorIterator& iter) {
    dense = iter.ndim() <= 1;
    for (int k = 0; k < N; k++) {
      const Tensor& t = iter.tensor(k);
      data[k] = static_cast<char*>(iter.data_ptr(k));
      itemsizes[k] = static_cast<int64_t>(t.itemsize());
      is_number[k] = t.device().is_cpu();
      if (is_number[k]) {
        std::memcpy(&numbers[k], data[k], t.itemsize());
        itemsizes[k] = 0;
      } else if (iter.ndim() == 1 && iter.shape()[0] != 1) {
        dense = dense && iter.strides(k)[0] == itemsizes[k];
      }
    }
    for (int d = 0; d < iter.ndim() && !dense; d++) {
      calculator.add_dim(iter.shape()[d], [&](int k) { return is_number[k] ? 0 : iter.strides(k)[d]; });
    }
  }

  C10_HOST_DEVICE void offsets(int64_t i, int64_t* result) const {
    if (!dense) {
      return calculator.get(i, result);
    }
    for (int k = 0; k < N; k++) {
      result[k] = i * itemsizes[k];
    }
  }
  C10_HOST_DEVICE const char* at(int k, int64_t offset) const {
    return is_number[k] ? reinterpret_cast<const char*>(&numbers[k]) : data[k] + offset;
  }
};

// Writes an object of a class, such as a value with its index, that a function returned. `*place = f()` would do the
// same, but the watcher of kernels would not see it: see Note [Stores of what a call returns]. Halves need no `store`.
template <typename T>
__device__ void store(T* place, const T& value) {
  *place = value;
}

template <typename scalar_t, typename F, int N, size_t... I>
C10_HOST_DEVICE void apply_at(const Operands<N>& operands, const int64_t* offsets, const F& op,
                              std::index_sequence<I...>) {
  using traits = function_traits<F>;
  using result_t = stored_type<scalar_t, typename traits::result_type>;
  *reinterpret_cast<result_t*>(operands.data[0] + offsets[0]) =
      op(c10::load<stored_type<scalar_t, arg_type<traits, I>>>(operands.at(I + 1, offsets[I + 1]))...);
}

// A grid-stride loop, which works for any size of the grid.
template <typename scalar_t, typename F, int N>
__global__ void elementwise_kernel(Operands<N> operands, int64_t n, F op) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t offsets[N];
    operands.offsets(i, offsets);
    apply_at<scalar_t>(operands, offsets, op, std::make_index_sequence<N - 1>());
  }
}

template <typename F>
__global__ void for_each_index_kernel(int64_t n, F f) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    f(i);
  }
}

// Calls f(0), ..., f(n - 1) on a device, each in a thread. `f` is an object of a class with a name, as `op` is.
template <typename F>
void gpu_for_each(c10::Device device, int64_t n, const F& f) {
  if (n == 0) {
    return;
  }
  const c10::cuda::CUDAGuard guard(device.index());
  c10::cuda::launch(for_each_index_kernel<F>, cuda::grid_size(n, kThreads), kThreads, 0,
                    c10::cuda::getCurrentCUDAStream(), n, f);
}

template <typename scalar_t = void, typename F>
void gpu_kernel(TensorIterator& iter, const F& op) {
  constexpr int N = function_traits<F>::arity + 1;
  TORCH_INTERNAL_ASSERT(iter.ntensors() == N, "gpu_kernel: the op takes ", N - 1, " inputs, the iterator has ",
                        iter.ninputs());
  const int64_t n = iter.numel();
  if (n == 0) {
    return; // CUDA reports an error for a grid without blocks
  }
  const c10::cuda::CUDAGuard guard(iter.tensor(0).device().index());
  c10::cuda::launch(elementwise_kernel<scalar_t, F, N>, cuda::grid_size(n, kThreads), kThreads, 0,
                    c10::cuda::getCurrentCUDAStream(), Operands<N>(iter), n, op);
}

// Runs Functor<scalar_t>(params...) on every element, for the dtypes that the functor names.
template <template <typename> class Functor, typename... Params>
void gpu_elementwise(TensorIterator& iter, const char* name, const Params&... params) {
  dispatch<typename Functor<float>::dtypes>(element_dtype<Functor>(iter), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_kernel<scalar_t>(iter, Functor<scalar_t>(params...));
  });
}

} // namespace reftorch::at::native

// The row of the CUDA for an op that is one element function: defines the function `kernel` and registers it at `stub`.
// An error about the dtype says `name`, as PyTorch's does.
#define REGISTER_CUDA_ELEMENTWISE(stub, kernel, Functor, name) \
  REGISTER_DEVICE_ELEMENTWISE(stub, CUDA, kernel, gpu_elementwise<Functor>, name)
