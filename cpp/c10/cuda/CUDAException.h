// Mirrors: c10/cuda/CUDAException.h, c10/cuda/CUDAMiscFunctions.h
//
// Every call of the CUDA runtime stands in C10_CUDA_CHECK, which turns its error into a C++ exception. Left out:
// device-side assertions with messages, per-call launch ids.
#pragma once

#include <c10/macros/Export.h>

#include <cuda_runtime.h>

namespace reftorch::c10::cuda {

// RuntimeError "CUDA error: ..." unless `error` is cudaSuccess. It also clears the error that the runtime remembers, so
// that the next check reports its own.
C10_API void check_implementation(cudaError_t error, const char* file, int line);

} // namespace reftorch::c10::cuda

#define C10_CUDA_CHECK(EXPR) ::reftorch::c10::cuda::check_implementation((EXPR), __FILE__, __LINE__)
// For destructors: an error is dropped, and the runtime forgets it.
#define C10_CUDA_IGNORE_ERROR(EXPR) \
  do {                              \
    if ((EXPR) != cudaSuccess) {    \
      (void)cudaGetLastError();     \
    }                               \
  } while (0)
