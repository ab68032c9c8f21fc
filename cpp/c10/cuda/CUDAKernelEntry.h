// Mirrors: nothing in PyTorch, whose torch/cuda/_utils.py calls cuLaunchKernel and trusts its arguments
//
// What reftorch/cuda/_utils.py adds to the text of a kernel, so that Python can ask for the types of the kernel's
// parameters and launch it. Arguments come as cudaLaunchKernel has them: a pointer to each. Works for the simulator and
// for nvcc.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <string>
#include <type_traits>
#include <utility>

namespace kernel_entry {

// Returns the code of a type: `*` for each pointer; then a letter and a size in bytes: i4 (int), u8, f4 (float), b1
// (bool), h2 (__half), g2 (__nv_bfloat16), v1 (void); ?16 for any other type of 16 bytes.
template <typename T>
std::string code_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_pointer_v<U>) {
    return "*" + code_of<std::remove_pointer_t<U>>();
  } else if constexpr (std::is_void_v<U>) {
    return "v1";
  } else {
    const char* letter = std::is_same_v<U, bool>            ? "b"
                         : std::is_integral_v<U>            ? (std::is_signed_v<U> ? "i" : "u")
                         : std::is_floating_point_v<U>      ? "f"
                         : std::is_same_v<U, __half>        ? "h"
                         : std::is_same_v<U, __nv_bfloat16> ? "g"
                                                            : "?";
    return letter + std::to_string(sizeof(U));
  }
}
template <typename... P>
const char* codes(void (*)(P...)) {
  static const std::string text = [] {
    std::string all;
    ((all += code_of<P>() + " "), ...);
    return all;
  }();
  return text.c_str();
}

template <size_t... I, typename... P>
cudaError_t launch_with(const cudaLaunchConfig_t& config, void (*kernel)(P...), void** arguments,
                        std::index_sequence<I...>) {
  (void)arguments; // of a kernel without parameters
  return cudaLaunchKernelEx(&config, kernel, *static_cast<std::remove_cv_t<P>*>(arguments[I])...);
}
template <typename... P>
int launch(void (*kernel)(P...), const unsigned* grid, const unsigned* block, size_t shared_bytes, void* stream,
           void** arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid[0], grid[1], grid[2]);
  config.blockDim = dim3(block[0], block[1], block[2]);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  const cudaError_t error = launch_with(config, kernel, arguments, std::index_sequence_for<P...>());
  if (error != cudaSuccess) {
    (void)cudaGetLastError(); // the caller reports it
  }
  return error;
}

} // namespace kernel_entry

// Defines the functions of a library that Python calls. The last argument names the kernel; it may be a template with
// arguments, k<float, 4>, and therefore contain commas. `number` tells the kernels of one library apart.
#define KERNEL_ENTRY(number, ...)                                                                         \
  extern "C" __attribute__((visibility("default"))) const char* kernel_codes_##number() {                 \
    return kernel_entry::codes(__VA_ARGS__);                                                              \
  }                                                                                                       \
  extern "C" __attribute__((visibility("default"))) int kernel_launch_##number(                           \
      const unsigned* grid, const unsigned* block, size_t shared_bytes, void* stream, void** arguments) { \
    return kernel_entry::launch(__VA_ARGS__, grid, block, shared_bytes, stream, arguments);               \
  }                                                                                                       \
  extern "C" __attribute__((visibility("default"))) const char* kernel_error_##number(int error) {        \
    return cudaGetErrorString(static_cast<cudaError_t>(error));                                           \
  }
