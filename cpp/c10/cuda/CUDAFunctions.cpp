// Mirrors: c10/cuda/CUDAFunctions.cpp
#include <c10/cuda/CUDAFunctions.h>

#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace reftorch::c10::cuda {

static int ask_for_count() noexcept {
  int count = 0;
  C10_CUDA_IGNORE_ERROR(cudaGetDeviceCount(&count));
  return count;
}

DeviceIndex device_count() noexcept {
  static const int count = ask_for_count();
  return static_cast<DeviceIndex>(count);
}

DeviceIndex device_count_ensure_non_zero() {
  TORCH_CHECK(device_count() > 0, "No CUDA GPUs are available");
  return device_count();
}

DeviceIndex current_device() {
  int device = 0;
  C10_CUDA_CHECK(cudaGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void set_device(DeviceIndex device) {
  C10_CUDA_CHECK(cudaSetDevice(device));
}

DeviceIndex exchange_device(DeviceIndex device) {
  const DeviceIndex former = current_device();
  if (device != former) {
    set_device(device);
  }
  return former;
}

void device_synchronize() {
  C10_CUDA_CHECK(cudaDeviceSynchronize());
}

static std::atomic<SyncDebugMode> debug_mode{SyncDebugMode::L_DISABLED};

SyncDebugMode sync_debug_mode() {
  return debug_mode;
}

void set_sync_debug_mode(SyncDebugMode mode) {
  debug_mode = mode;
}

void warn_or_error_on_sync() {
  TORCH_CHECK(debug_mode != SyncDebugMode::L_ERROR, "called a synchronizing CUDA operation");
  if (debug_mode == SyncDebugMode::L_WARN) {
    TORCH_WARN("called a synchronizing CUDA operation");
  }
}

} // namespace reftorch::c10::cuda
