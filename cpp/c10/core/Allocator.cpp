// Mirrors: c10/core/Allocator.cpp, c10/core/CachingDeviceAllocator.cpp
#include <c10/core/Allocator.h>

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

namespace reftorch::c10 {

// The allocator of the meta device. A storage on that device knows its size and has no memory, so data() is null.
// PyTorch has this class in ATen/EmptyTensor.cpp.
struct MetaAllocator final : Allocator {
  DataPtr allocate(size_t) override {
    return {nullptr, nullptr, nullptr, Device(DeviceType::Meta)};
  }
  void copy_data(void*, const void*, size_t) const override {}
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

DeviceAllocator* getDeviceAllocator(DeviceType type) {
  auto* const allocator = dynamic_cast<DeviceAllocator*>(GetAllocator(type));
  TORCH_CHECK(allocator != nullptr, "Allocator for ", DeviceTypeName(type), " is not a DeviceAllocator.");
  return allocator;
}

} // namespace reftorch::c10
