// Mirrors: c10/cuda/CUDACachingAllocator.h
//
// The allocator of the CUDA devices. Note [Freed memory and streams] says which stream may reuse a block. Left out:
// splitting and merging of blocks, snapshots, limits for a process, other backends, expandable segments.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace reftorch::c10::cuda::CUDACachingAllocator {

// Returns the allocator. Its allocate() allocates on the current device, for the current stream of that device.
C10_API DeviceAllocator* get();
// Returns the unused memory of all devices to CUDA.
C10_API void emptyCache();

} // namespace reftorch::c10::cuda::CUDACachingAllocator
