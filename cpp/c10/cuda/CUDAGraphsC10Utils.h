// Mirrors: c10/cuda/CUDAGraphsC10Utils.h
//
// Whether a stream captures, and a guard for calls that a capture would forbid. The graphs themselves are in
// ATen/cuda/CUDAGraph.h.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <ostream>

namespace reftorch::c10::cuda {

// Sets what this thread may do while a stream captures, until the end of the scope. With cudaStreamCaptureModeRelaxed,
// the thread may call functions that are unsafe during a capture in general, such as cudaMalloc.
class CUDAStreamCaptureModeGuard final {
 public:
  explicit CUDAStreamCaptureModeGuard(cudaStreamCaptureMode desired) : strictness_(desired) {
    C10_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&strictness_));
  }
  ~CUDAStreamCaptureModeGuard() {
    C10_CUDA_IGNORE_ERROR(cudaThreadExchangeStreamCaptureMode(&strictness_));
  }
  CUDAStreamCaptureModeGuard(const CUDAStreamCaptureModeGuard&) = delete;
  CUDAStreamCaptureModeGuard& operator=(const CUDAStreamCaptureModeGuard&) = delete;

 private:
  cudaStreamCaptureMode strictness_;
};

enum class CaptureStatus : int {
  None = cudaStreamCaptureStatusNone,
  Active = cudaStreamCaptureStatusActive,
  Invalidated = cudaStreamCaptureStatusInvalidated
};

inline std::ostream& operator<<(std::ostream& os, CaptureStatus status) {
  return os << (status == CaptureStatus::None     ? "cudaStreamCaptureStatusNone"
                : status == CaptureStatus::Active ? "cudaStreamCaptureStatusActive"
                                                  : "cudaStreamCaptureStatusInvalidated");
}

inline CaptureStatus capture_status(CUDAStream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return static_cast<CaptureStatus>(status);
}

// Returns the status of the current stream. The first call starts the device.
inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  return capture_status(getCurrentCUDAStream());
}

} // namespace reftorch::c10::cuda
