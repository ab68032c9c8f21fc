// Mirrors: c10/cuda/CUDACachingAllocator.cpp, aten/src/ATen/core/CachingHostAllocator.h: the part that both share
//
// Note [Freed memory and streams]
// Problem: CUDA's own free waits for the whole device, so freed memory is kept and given out again. A block may be
// freed while kernels that use it are still in the queue of a stream. Trick: a block belongs to the stream that was
// current when it was allocated, and is given out again on that stream only: the new owner's work stands behind the old
// one's in the same queue. Work on another stream has to be announced (recordStream). Such a block is freed in two
// steps: an event is recorded on each announced stream, and the block is given out again when all of these events have
// passed. A program that uses memory on another stream and does not announce it reads or writes memory of somebody
// else.
//
// Limits: blocks are neither split nor merged, so a block serves requests of more than half its size only.
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
  std::vector<Stream> used_on; // other streams that were announced
};

// The blocks of one device, or of pinned host memory. Any thread may call it.
class CachedBlocks {
 public:
  // `get` returns null where there is no memory.
  CachedBlocks(void* (*get)(size_t bytes), void (*give_back)(void* data)) : get_(get), give_back_(give_back) {}

  // Null where there is no memory even after the unused blocks were given back.
  Block* allocate(size_t request, Stream stream);
  void free(Block* block);
  void record_stream(Block* block, Stream stream);
  // Gives the unused blocks back to CUDA; returns how many bytes those were.
  size_t empty();
  DeviceStats stats();
  void reset_peak_stats();

 private:
  struct Pending { // a freed block whose announced streams have work left
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
