// Mirrors: nothing in PyTorch, which calls its Python tools instead (c10/core/impl/GPUTrace.h)
//
// Tells the simulator's watcher of kernels which parts of the cached memory tensors own. cudaMalloc knows only the
// segments, so a read after the end of a tensor would look right. On a GPU the functions do nothing.
#pragma once

#include <c10/core/Stream.h>
#include <c10/cuda/CUDAStream.h>

#include <cuda_runtime.h>

#include <cstddef>

namespace reftorch::c10::cuda {

#if defined(CUDA_SIM)
// Returns how many bytes to add to a block: while somebody watches, each block is followed by memory that belongs to no
// tensor, so that an index which is a little too large does not reach the next tensor.
inline size_t block_padding() {
  return cudasim::observer.load(std::memory_order_acquire) != nullptr ? 512 : 0;
}
inline void announce_allocated_block(const void* p, size_t bytes) {
  cudasim::tell_block_allocated(p, bytes);
}
// `shared` says whether the block waits for other streams before it is reused on its own.
inline void announce_freed_block(const void* p, Stream stream, bool shared) {
  if (cudasim::observer.load(std::memory_order_acquire) != nullptr) {
    cudasim::tell_block_freed(p, stream.device_index(), CUDAStream(stream).stream(), shared);
  }
}
// Memory of another process: a segment was opened, and a tensor owns a part of it.
inline void announce_opened_segment(const void* p) {
  cudasim::tell_segment_opened(p);
}
inline void announce_opened_block(const void* p, size_t bytes) {
  cudasim::tell_block_opened(p, bytes);
}
#else
inline size_t block_padding() {
  return 0;
}
inline void announce_opened_segment(const void*) {}
inline void announce_opened_block(const void*, size_t) {}
inline void announce_allocated_block(const void*, size_t) {}
inline void announce_freed_block(const void*, Stream, bool) {}
#endif

} // namespace reftorch::c10::cuda
