// Mirrors: aten/src/ATen/detail/AcceleratorHooksInterface.h
//
// The functions that ATen needs from an accelerator in addition to devices, streams and memory: generators and pinned
// memory. The library of a device registers one object when it is loaded, so that ATen needs no device's library to
// link. Left out: starting the device, its version.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>

namespace reftorch::at {

struct TORCH_API AcceleratorHooksInterface {
  virtual ~AcceleratorHooksInterface() = default;

  // Returns a new generator of that device. An index of -1 means the current device.
  virtual Generator getNewGenerator(c10::DeviceIndex index = -1) const = 0;

  // Pinned memory is CPU memory that the device can read by itself, so that a copy can be asynchronous.
  virtual c10::Allocator* getPinnedMemoryAllocator() const = 0;
  virtual bool isPinnedPtr(const void* data) const = 0;
};

struct TORCH_API RegisterAcceleratorHooks final {
  RegisterAcceleratorHooks(c10::DeviceType type, const AcceleratorHooksInterface* hooks);
};

} // namespace reftorch::at
