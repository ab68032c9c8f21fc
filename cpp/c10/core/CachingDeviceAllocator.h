// Mirrors: c10/core/CachingDeviceAllocator.h
//
// An allocator of a device with streams. A block that is freed is given out again at once, but only to the stream it
// was allocated on: work on that stream runs in order, so the new owner's work comes after the former owner's. Work on
// any other stream must be announced with recordStream. Left out: memory pools, history, most counters.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <cstdint>

namespace reftorch::c10 {

struct DeviceStats {
  int64_t allocated_bytes = 0; // held by live tensors
  int64_t reserved_bytes = 0;  // taken from the device
  int64_t peak_allocated_bytes = 0;
  int64_t peak_reserved_bytes = 0;
};

class C10_API DeviceAllocator : public Allocator {
 public:
  // Work on `stream` uses this memory: after it is freed, it waits for that work before it is given out again.
  virtual void recordStream(const DataPtr& ptr, Stream stream) = 0;
  virtual DeviceStats getDeviceStats(DeviceIndex device) = 0;
  virtual void resetPeakStats(DeviceIndex device) = 0;
};

// RuntimeError for a type of device without such an allocator, as the CPU is.
C10_API DeviceAllocator* getDeviceAllocator(DeviceType type);

} // namespace reftorch::c10
