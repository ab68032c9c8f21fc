// Mirrors: aten/src/ATen/cuda/CUDAContext.h, aten/src/ATen/cuda/CUDAContextLight.h
//
// The properties of the CUDA devices. Left out: handles of cuSPARSE, cuSOLVER and cuDNN.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace reftorch::at::cuda {

using namespace c10::cuda; // NOLINT: extensions say at::cuda::getCurrentCUDAStream

C10_API const cudaDeviceProp& getCurrentDeviceProperties();
C10_API const cudaDeviceProp& getDeviceProperties(c10::DeviceIndex device);

// Returns the number of blocks of `threads` threads for a kernel with a grid-stride loop over n elements: enough for n
// elements, but at most as many as the device runs at the same time.
C10_API unsigned grid_size(int64_t n, int threads);

} // namespace reftorch::at::cuda
