// Mirrors: c10/core/CPUAllocator.h, c10/core/CachingDeviceAllocator.h
// The caching CPU allocator. Left out: PyTorch's CPU allocator does not cache; this one does, because fresh pages cost
// more than most ops.
#pragma once

#include <c10/core/Allocator.h>

namespace reftorch::c10 {

Allocator* GetCPUAllocator();

struct CPUMemoryStats {
  size_t allocated_bytes = 0; // held by live tensors, rounded up to block sizes
  size_t cached_bytes = 0;    // free, kept for the next tensor
  size_t allocations = 0;     // calls that reached the system
};
CPUMemoryStats getCPUMemoryStats();

} // namespace reftorch::c10
