// Mirrors: aten/src/ATen/cuda/detail/CUDAHooks.cpp
//
// The CUDA generators and pinned memory, for ATen, which does not link CUDA.
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/detail/AcceleratorHooksInterface.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CachingHostAllocator.h>

namespace reftorch::at::cuda::detail {

struct CUDAHooks final : AcceleratorHooksInterface {
  Generator getNewGenerator(c10::DeviceIndex index) const override {
    return createCUDAGenerator(index);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return c10::cuda::getPinnedMemoryAllocator();
  }
  bool isPinnedPtr(const void* data) const override {
    if (c10::cuda::device_count() == 0) {
      return false;
    }
    cudaPointerAttributes attributes;
    C10_CUDA_CHECK(cudaPointerGetAttributes(&attributes, data));
    return attributes.type == cudaMemoryTypeHost;
  }
};

static const RegisterAcceleratorHooks register_hooks(c10::kCUDA, new CUDAHooks);

} // namespace reftorch::at::cuda::detail
