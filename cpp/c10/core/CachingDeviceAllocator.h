// Mirrors: c10/core/CachingDeviceAllocator.h
//
// The interface of an allocator for a device with streams. The allocator reuses a freed block at once, but only for the
// stream on which the block was allocated: work on one stream runs in order, so the work of the new owner comes after
// the work of the former owner. A program that uses a block on any other stream must say so with recordStream. Left
// out: memory pools, history, most counters.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <cstdint>

namespace reftorch::c10 {

struct DeviceStats {
  int64_t allocated_bytes = 0; // used by live tensors
  int64_t reserved_bytes = 0;  // taken from the device: used by tensors or cached
  int64_t peak_allocated_bytes = 0;
  int64_t peak_reserved_bytes = 0;
};

class C10_API DeviceAllocator : public Allocator {
 public:
  // Tells the allocator that work on `stream` uses this memory. After the memory is freed, the allocator waits for that
  // work before it reuses the block.
  virtual void recordStream(const DataPtr& ptr, Stream stream) = 0;
  virtual DeviceStats getDeviceStats(DeviceIndex device) = 0;
  virtual void resetPeakStats(DeviceIndex device) = 0;
};

// Returns the allocator of a type of device. Raises RuntimeError if that allocator is not a DeviceAllocator, as the
// CPU's is not.
C10_API DeviceAllocator* getDeviceAllocator(DeviceType type);

} // namespace reftorch::c10
