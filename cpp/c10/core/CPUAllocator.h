// Mirrors: c10/core/CPUAllocator.h, c10/core/CachingDeviceAllocator.h
//
// The CPU allocator, which keeps freed blocks for later requests. PyTorch's CPU allocator does not cache, but its CUDA
// allocator does. This allocator caches because fresh pages cost more than most ops; see Note [Caching CPU allocator].
#pragma once

#include <c10/core/Allocator.h>

namespace reftorch::c10 {

Allocator* GetCPUAllocator();

struct CPUMemoryStats {
  size_t allocated_bytes = 0; // of the blocks that live tensors use, each rounded up to its size class
  size_t cached_bytes = 0;    // of the free blocks that are kept for the next tensor
  size_t allocations = 0;     // the number of requests for which no free block was kept
};
CPUMemoryStats getCPUMemoryStats();

} // namespace reftorch::c10
