// Mirrors: c10/cuda/CUDACachingAllocator.cpp, aten/src/ATen/core/CachingHostAllocator.h: the part that both share
//
// Note [Freed memory and streams]
// Problem: CUDA's own free waits for the whole device, so the allocator keeps freed memory and reuses it. But a block
// may be freed while kernels that use it are still in the queue of a stream. Trick: a block belongs to the stream that
// was current when the block was allocated, and is reused on that stream only. The work of the new owner then comes
// after the work of the former owner in the same queue. Work on another stream has to be announced with recordStream. A
// block with announced streams is freed in two steps: an event is recorded on each of these streams, and the block is
// reused after all of the events have passed. A program that uses memory on another stream and does not announce the
// stream may read or overwrite memory of another tensor.
//
// Limits: blocks are neither split nor merged, so a block is reused only for requests of more than half its size.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace reftorch::c10::cuda {

struct Block {
  void* data;
  size_t size;    // bytes, rounded up
  size_t request; // bytes that the owner asked for
  Stream stream;
  std::vector<Stream> used_on; // other streams that use the block, announced with recordStream
};

// The blocks of one device, or the blocks of pinned host memory. Any thread may call the functions.
class CachedBlocks {
 public:
  // `get` returns null if there is no memory left.
  CachedBlocks(void* (*get)(size_t bytes), void (*give_back)(void* data)) : get_(get), give_back_(give_back) {}

  // Returns null if there is no memory left, even after the unused blocks were returned to CUDA.
  Block* allocate(size_t request, Stream stream);
  void free(Block* block);
  void record_stream(Block* block, Stream stream);
  // Returns the unused blocks to CUDA. Returns their number of bytes.
  size_t empty();
  DeviceStats stats();
  void reset_peak_stats();

 private:
  struct Pending { // a freed block with unfinished work on an announced stream
    Block* block;
    std::vector<Event> events;
  };
  void collect_pending();
  size_t empty_locked();

  void* (*get_)(size_t);
  void (*give_back_)(void*);
  std::mutex mutex_;
  std::map<std::pair<StreamId, DeviceIndex>, std::multimap<size_t, Block*>> unused_; // by stream, then by size
  std::list<Pending> pending_;
  DeviceStats stats_;
};

} // namespace reftorch::c10::cuda
