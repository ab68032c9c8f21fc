// Mirrors: aten/src/ATen/cuda/CUDAContext.h, aten/src/ATen/cuda/CUDAContextLight.h
//
// What kernels ask of the current device. Left out: handles of cuSPARSE, cuSOLVER and cuDNN.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace reftorch::at::cuda {

C10_API const cudaDeviceProp& getCurrentDeviceProperties();
C10_API const cudaDeviceProp& getDeviceProperties(c10::DeviceIndex device);

// How many blocks of `threads` threads a kernel with a grid-stride loop over n elements is given: enough for n, and no
// more than the device runs at once.
C10_API unsigned grid_size(int64_t n, int threads);

} // namespace reftorch::at::cuda
