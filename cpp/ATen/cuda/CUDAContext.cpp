// Mirrors: aten/src/ATen/cuda/CUDAContext.cpp
#include <ATen/cuda/CUDAContext.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::cuda {

static std::vector<cudaDeviceProp> ask_for_properties() {
  std::vector<cudaDeviceProp> properties(c10::cuda::device_count());
  for (size_t i = 0; i < properties.size(); i++) {
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties[i], static_cast<int>(i)));
  }
  return properties;
}

const cudaDeviceProp& getDeviceProperties(c10::DeviceIndex device) {
  static const std::vector<cudaDeviceProp> properties = ask_for_properties();
  TORCH_CHECK(device >= 0 && device < static_cast<int>(properties.size()), "Invalid device id");
  return properties[device];
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
