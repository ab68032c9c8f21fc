// Mirrors: aten/src/ATen/cuda/CUDAContext.cpp
#include <ATen/cuda/CUDAContext.h>

#include <c10/cuda/CUDADevice.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace reftorch::at::cuda {

const cudaDeviceProp& getDeviceProperties(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < c10::cuda::device_count(), "Invalid device id");
  return c10::cuda::CUDADevice::get(device).properties();
}

const cudaDeviceProp& getCurrentDeviceProperties() {
  return getDeviceProperties(c10::cuda::current_device());
}

unsigned grid_size(int64_t n, int threads) {
  const cudaDeviceProp& device = getCurrentDeviceProperties();
  const int64_t most = int64_t(device.multiProcessorCount) * (device.maxThreadsPerMultiProcessor / threads);
  return static_cast<unsigned>(std::min((n + threads - 1) / threads, most));
}

} // namespace reftorch::at::cuda
