// Mirrors: aten/src/ATen/cuda/CachingHostAllocator.h, aten/src/ATen/cuda/PinnedMemoryAllocator.h
//
// The allocator of pinned host memory, the only host memory with which CUDA copies asynchronously. Freed blocks are
// reused as on a device, see Note [Freed memory and streams].
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAStream.h>

namespace reftorch::c10::cuda {

C10_API Allocator* getPinnedMemoryAllocator();
C10_API bool is_pinned(const DataPtr& data_ptr);
// Announces that work on `stream` uses this memory. Returns false if the memory is not pinned.
C10_API bool CachingHostAllocator_recordEvent(const DataPtr& data_ptr, CUDAStream stream);
C10_API void CachingHostAllocator_emptyCache();

} // namespace reftorch::c10::cuda
