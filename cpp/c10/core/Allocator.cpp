// Mirrors: c10/core/Allocator.cpp
#include <c10/core/Allocator.h>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace reftorch::c10 {

// A storage on the meta device knows its size and has no memory. PyTorch: MetaAllocator of ATen/EmptyTensor.cpp.
struct MetaAllocator final : Allocator {
  DataPtr allocate(size_t) override {
    return {nullptr, nullptr, nullptr, Device(DeviceType::Meta)};
  }
};

static Allocator*& slot(DeviceType t) {
  static MetaAllocator meta_allocator;
  static Allocator* allocators[kNumDeviceTypes] = {GetCPUAllocator(), nullptr, &meta_allocator};
  return allocators[static_cast<int>(t)];
}

Allocator* GetAllocator(DeviceType t) {
  Allocator* allocator = slot(t);
  TORCH_CHECK(allocator != nullptr, "Torch not compiled with CUDA enabled. Hint: use device='cpu'.");
  return allocator;
}

void SetAllocator(DeviceType t, Allocator* allocator) {
  slot(t) = allocator;
}

} // namespace reftorch::c10
