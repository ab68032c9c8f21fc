// Mirrors: c10/cuda/CUDAException.h, c10/cuda/CUDAMiscFunctions.h
//
// Every call of the CUDA runtime is wrapped in C10_CUDA_CHECK, which turns an error code into a C++ exception. Left
// out: device-side assertions with messages, launch ids.
#pragma once

#include <c10/macros/Export.h>

#include <cuda_runtime.h>

namespace reftorch::c10::cuda {

// Raises AcceleratorError "CUDA error: ..." unless `error` is cudaSuccess. Also clears the error that the runtime
// remembers, so that the next check does not report this error again.
C10_API void check_implementation(cudaError_t error, const char* file, int line);

} // namespace reftorch::c10::cuda

#define C10_CUDA_CHECK(EXPR) ::reftorch::c10::cuda::check_implementation((EXPR), __FILE__, __LINE__)
// Raises the error of the last launch. For kernels launched with <<<>>>, which returns no error.
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
// Ignores an error and clears it in the runtime. For destructors, which must not throw.
#define C10_CUDA_IGNORE_ERROR(EXPR) \
  do {                              \
    if ((EXPR) != cudaSuccess) {    \
      (void)cudaGetLastError();     \
    }                               \
  } while (0)
