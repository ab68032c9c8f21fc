// Mirrors: aten/src/ATen/cuda/Sleep.cu
#include <ATen/cuda/Sleep.h>

#include <c10/cuda/CUDALaunch.h>
#include <c10/cuda/CUDAStream.h>

namespace reftorch::at::cuda {

static __global__ void spin_kernel(int64_t cycles) {
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

void sleep(int64_t cycles) {
  c10::cuda::launch(spin_kernel, 1, 1, 0, c10::cuda::getCurrentCUDAStream(), cycles);
}

} // namespace reftorch::at::cuda
