// Mirrors: nothing in PyTorch, whose launches are written kernel<<<grid, block, shared_bytes, stream>>>(args...)
//
// Launches a kernel with a function call, which both nvcc and an ordinary C++ compiler accept. CUDA's template
// cudaLaunchKernelEx (CUDA 11.8 and later) converts the arguments and checks their number.
#pragma once

#include <c10/cuda/CUDAException.h>

#include <utility>

#if !defined(CUDA_SIM)
// The function that reports a failed assertion. With NDEBUG, no header declares it.
extern "C" __host__ __device__ void __assert_fail(const char* assertion, const char* file, unsigned line,
                                                  const char* function) noexcept;
#endif

// Declares `T* name`, which points to the dynamic shared memory of the block. It is a macro because nvcc wants one
// `extern __shared__` variable, and an ordinary compiler would need a definition of that variable.
//
// CUDA_KERNEL_ASSERT ends the kernel if `cond` is false, and the next call of CUDA reports the failure. Unlike assert,
// it is there in every build, because it stands for the checks that an op makes on the CPU.
#if defined(CUDA_SIM)
#define CUDA_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(cudasim::dynamic_shared())
#define CUDA_KERNEL_ASSERT(cond) \
  ((cond) ? void() : cudasim::fail_kernel(cudaErrorAssert, "Assertion `" #cond "` failed.", __FILE__, __LINE__))
#else
#define CUDA_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char cuda_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(cuda_dynamic_shared)
#define CUDA_KERNEL_ASSERT(cond) ((cond) ? void() : __assert_fail(#cond, __FILE__, __LINE__, __func__))
#endif

namespace reftorch::c10::cuda {

// Launches `kernel`. CUDA reports an error for a grid without blocks, so the caller must not launch a kernel without
// work.
template <typename... P, typename... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, A&&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  C10_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<A>(args)...));
}

} // namespace reftorch::c10::cuda
