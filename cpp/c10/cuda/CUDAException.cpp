// Mirrors: c10/cuda/CUDAException.cpp, c10/cuda/CUDAMiscFunctions.cpp
#include <c10/cuda/CUDAException.h>

#include <c10/util/Exception.h>

#include <cstdlib>
#include <string>

namespace reftorch::c10::cuda {

void check_implementation(cudaError_t error, const char* file, int line) {
  if (error == cudaSuccess) {
    return;
  }
  (void)cudaGetLastError();
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  const char* advice = blocking != nullptr && std::string(blocking) == "1"
                           ? ""
                           : "\nCUDA kernel errors might be asynchronously reported at some other API call, so the "
                             "stacktrace below might be incorrect.\nFor debugging consider passing "
                             "CUDA_LAUNCH_BLOCKING=1";
  throw AcceleratorError(static_cast<int>(error), str("CUDA error: ", cudaGetErrorString(error), advice, "\n(",
                                                      cudaGetErrorName(error), " at ", file, ":", line, ")"));
}

} // namespace reftorch::c10::cuda
