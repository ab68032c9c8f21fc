// Mirrors: aten/src/ATen/cuda/CachingHostAllocator.h, aten/src/ATen/cuda/PinnedMemoryAllocator.h
//
// The allocator of pinned host memory, the only host memory with which CUDA copies asynchronously. Freed blocks are
// reused as on a device, see Note [Freed memory and streams].
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDAStream.h>

namespace reftorch::c10::cuda {

C10_API Allocator* getPinnedMemoryAllocator();
// Also true for memory that the program has registered with cudaHostRegister.
C10_API bool is_pinned(const DataPtr& data_ptr);
// Makes memory of the program pinned, or ends this. Both return the error of CUDA's function.
C10_API cudaError_t registerHostMemory(void* data, size_t bytes, unsigned flags);
C10_API cudaError_t unregisterHostMemory(void* data);
// Announces that work on `stream` uses this memory. Returns false if the memory is not pinned.
C10_API bool CachingHostAllocator_recordEvent(const DataPtr& data_ptr, CUDAStream stream);
C10_API void CachingHostAllocator_emptyCache();

// How long calls of CUDA took, in microseconds.
struct DurationStat {
  int64_t total = 0;
  int64_t max = 0;
  int64_t min = 0;
  int64_t count = 0;

  void add(int64_t duration) {
    min = count == 0 ? duration : std::min(min, duration);
    max = std::max(max, duration);
    total += duration;
    count++;
  }
};

// The counters of pinned memory.
struct HostStats {
  CachingDeviceAllocator::Stat allocations;     // blocks, with those that are kept for later requests
  CachingDeviceAllocator::Stat active_requests; // blocks that tensors own, or that a stream still uses
  CachingDeviceAllocator::Stat allocated_bytes;
  CachingDeviceAllocator::Stat active_bytes;
  DurationStat host_alloc_time, host_free_time;
  int64_t num_host_alloc = 0, num_host_free = 0; // calls of cudaMallocHost and cudaFreeHost
};
C10_API HostStats CachingHostAllocator_getStats();
C10_API void CachingHostAllocator_resetAccumulatedStats();
C10_API void CachingHostAllocator_resetPeakStats();

} // namespace reftorch::c10::cuda
