// Mirrors: nothing in PyTorch: the C++ that stands for the two notations of CUDA that C++ does not have
//
// Other people's CUDA C++ has <<<>>> and `extern __shared__`. reftorch/cuda/_simulated_source.py rewrites them in the
// text, within their line:
//
//   kernel<float><<<grid, block, bytes, stream>>>(a, n);
//   kernel<float>->*cudasim::configuration(grid, block, bytes, stream)(a, n);
//
//   extern __shared__ float tile[];
//   float* const tile = cudasim::DynamicShared();            in a function
//   static cudasim::DynamicSharedArray<float> tile;          outside of all functions
//
// Note [A launch is an operator]
// The text before <<< may be any expression, for example `functions[i]` or `ns::kernel<T, 4>`, and its beginning is
// hard to find. So it stays where it is, and <<< becomes the binary operator ->*, which takes the function on its left.
// The call on its right binds more tightly, and only collects the arguments.
#pragma once

#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <tuple>
#include <utility>

#pragma GCC visibility push(default)
// What printf, assert and exit of a kernel call: see output.cpp.
extern "C" int cudasim_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
extern "C" [[noreturn]] void cudasim_assert_fail(const char* assertion, const char* file, unsigned line,
                                                 const char* function) noexcept;
extern "C" [[noreturn]] void cudasim_exit(int code, const char* file = __builtin_FILE(), int line = __builtin_LINE());
namespace cudasim {

struct DynamicShared {
  template <typename T>
  operator T*() const {
    return static_cast<T*>(dynamic_shared());
  }
};
template <typename T>
struct DynamicSharedArray {
  operator T*() const {
    return static_cast<T*>(dynamic_shared());
  }
};

template <typename... A>
struct Launch {
  cudaLaunchConfig_t config;
  std::tuple<A...> arguments;
};
struct Configuration {
  cudaLaunchConfig_t config;
  template <typename... A>
  Launch<A&&...> operator()(A&&... arguments) const {
    return {config, std::tuple<A&&...>(std::forward<A>(arguments)...)};
  }
};
inline Configuration configuration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  Configuration it{};
  it.config.gridDim = grid;
  it.config.blockDim = block;
  it.config.dynamicSmemBytes = shared_bytes;
  it.config.stream = stream;
  return it;
}
// As in CUDA, a launch returns nothing: cudaGetLastError() reports its error.
template <typename... P, typename... A>
void operator->*(void (*kernel)(P...), Launch<A...>&& launch) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch must have as many arguments as the kernel has parameters");
  std::apply([&](A... arguments) { (void)cudaLaunchKernelEx(&launch.config, kernel, std::forward<A>(arguments)...); },
             std::move(launch.arguments));
}

} // namespace cudasim
#pragma GCC visibility pop
