// Mirrors: c10/cuda/CUDACachingAllocator.h
//
// The memory of the CUDA devices: see Note [Freed memory and streams] for which stream may use a block. Left out: the
// splitting and merging of blocks, snapshots, limits for a process, other backends, expandable segments.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace reftorch::c10::cuda::CUDACachingAllocator {

// Allocates on the current device, for its current stream.
C10_API DeviceAllocator* get();
// Gives the unused memory of all devices back to CUDA.
C10_API void emptyCache();

} // namespace reftorch::c10::cuda::CUDACachingAllocator
