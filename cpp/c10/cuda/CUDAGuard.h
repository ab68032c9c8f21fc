// Mirrors: c10/cuda/CUDAGuard.h
//
// A guard makes a CUDA device current until the end of its scope. CUDAGuard calls CUDA directly, where DeviceGuard
// looks up the implementation in a table: code in this folder knows that its device is CUDA. Left out: guards for
// streams; use c10::StreamGuard.
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

namespace reftorch::c10::cuda {

class CUDAGuard final {
 public:
  explicit CUDAGuard(Device device) : CUDAGuard(device.index()) {}
  explicit CUDAGuard(DeviceIndex device) : former_(device == -1 ? current_device() : exchange_device(device)) {}
  ~CUDAGuard() {
    C10_CUDA_IGNORE_ERROR(cudaSetDevice(former_));
  }
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;

 private:
  DeviceIndex former_;
};

} // namespace reftorch::c10::cuda
