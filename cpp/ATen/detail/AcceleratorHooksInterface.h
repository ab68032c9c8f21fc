// Mirrors: aten/src/ATen/detail/AcceleratorHooksInterface.h
//
// What ATen asks of an accelerator beyond devices, streams and memory: its generators and pinned memory. A device's
// library registers one object when it is loaded, so that ATen links no device's library.
// Left out: starting the device, its version.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>

namespace reftorch::at {

struct TORCH_API AcceleratorHooksInterface {
  virtual ~AcceleratorHooksInterface() = default;

  // The generator that ops on that device draw from where none is given. -1 is the current device.
  virtual const Generator& getDefaultGenerator(c10::DeviceIndex index = -1) const = 0;
  virtual Generator getNewGenerator(c10::DeviceIndex index = -1) const = 0;

  // Pinned memory is CPU memory that the device can read by itself, so that a copy need not be waited for.
  virtual c10::Allocator* getPinnedMemoryAllocator() const = 0;
  virtual bool isPinnedPtr(const void* data) const = 0;
};

struct TORCH_API RegisterAcceleratorHooks final {
  RegisterAcceleratorHooks(c10::DeviceType type, const AcceleratorHooksInterface* hooks);
};

} // namespace reftorch::at
