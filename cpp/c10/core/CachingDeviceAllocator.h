// Mirrors: c10/core/CachingDeviceAllocator.h
//
// The interface of an allocator for a device with streams, and what such an allocator tells about itself: its counters,
// a picture of its memory, and a history of what it did. The allocator reuses a freed block at once, but only for the
// stream on which the block was allocated: work on one stream runs in order, so the work of the new owner comes after
// the work of the former owner. A program that uses a block on any other stream must say so with recordStream.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reftorch::c10 {

using CaptureId_t = unsigned long long;
// The id of a private pool of memory. The first number belongs to a pool that a graph has made for itself, the second
// one to a pool that the program has asked for; the other number is 0. {0, 0} is the memory of everybody.
using MempoolId_t = std::pair<CaptureId_t, CaptureId_t>;

namespace CachingDeviceAllocator {

// A number that goes up and down.
struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0; // the sum of all increases
  int64_t freed = 0;     // the sum of all decreases

  void increase(size_t amount) {
    current += static_cast<int64_t>(amount);
    peak = std::max(peak, current);
    allocated += static_cast<int64_t>(amount);
  }
  void decrease(size_t amount) {
    current -= static_cast<int64_t>(amount);
    freed += static_cast<int64_t>(amount);
  }
};

enum class StatType : uint8_t { AGGREGATE, SMALL_POOL, LARGE_POOL, NUM_TYPES };

// One number for all blocks, one for those of the pool of small blocks, and one for the pool of large blocks.
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;

// The counters of a device. A segment is memory that came from the device in one piece; blocks are its parts.
struct DeviceStats {
  StatArray allocation;           // blocks that tensors own
  StatArray segment;              // segments
  StatArray active;               // blocks that tensors own, or that a stream still uses after their tensor has gone
  StatArray inactive_split;       // unused parts of segments of which another part is in use
  StatArray allocated_bytes;      // the bytes of the blocks that `allocation` counts
  StatArray reserved_bytes;       // the bytes of all segments
  StatArray active_bytes;         // the bytes of the blocks that `active` counts
  StatArray inactive_split_bytes; // the bytes of the blocks that `inactive_split` counts
  StatArray requested_bytes;      // what the program asked for, before the sizes were rounded up
  Stat oversize_allocations;      // blocks of at least max_split_size that tensors own
  Stat oversize_segments;         // segments of at least max_split_size
  int64_t num_alloc_retries = 0;  // how often the device had no memory until the unused segments were returned
  int64_t num_ooms = 0;           // how often an OutOfMemoryError was raised
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
  int64_t num_oom_rejections = 0; // always 0: this allocator lets the device decide
  int64_t max_split_size = -1;    // bytes; -1: blocks of every size are split

  // Calls `f` for each Stat.
  template <typename F>
  void for_each(const F& f) {
    for (StatArray* array : {&allocation, &segment, &active, &inactive_split, &allocated_bytes, &reserved_bytes,
                             &active_bytes, &inactive_split_bytes, &requested_bytes}) {
      std::for_each(array->begin(), array->end(), f);
    }
    f(oversize_allocations);
    f(oversize_segments);
  }
};

// Where in the program something happened: the frames of the stack, the innermost first.
struct Frame {
  std::string filename;
  int line;
  std::string name;
};
using GatheredContext = std::vector<Frame>;
using Context = std::shared_ptr<const GatheredContext>; // null if none was recorded
using CreateContextFn = Context (*)();

// For which events a context is recorded. Each value includes those before it.
enum class RecordContext : uint8_t {
  NEVER,
  STATE, // for the blocks that are in use now
  ALLOC, // for each allocation in the history
  ALL,   // for each free in the history, too
};

struct BlockInfo {
  size_t address;
  size_t size;
  size_t requested_size;
  bool allocated; // a tensor owns the block
  bool active;    // a tensor owns the block, or a stream still uses it
  Context context_when_allocated;
};

struct SegmentInfo {
  DeviceIndex device;
  size_t address;
  size_t total_size = 0;
  size_t requested_size = 0;
  size_t allocated_size = 0;
  size_t active_size = 0;
  StreamId stream;
  bool is_large;
  MempoolId_t owner_private_pool_id{0, 0};
  std::vector<BlockInfo> blocks;
  Context context_when_allocated;
};

struct TraceEntry {
  enum class Action : uint8_t {
    ALLOC,          // a block went to a tensor
    FREE_REQUESTED, // the tensor gave the block back
    FREE_COMPLETED, // no stream uses the block any more
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SNAPSHOT, // somebody asked for the segments
    OOM,      // an OutOfMemoryError was raised; `address` is the number of free bytes of the device
  };
  Action action;
  DeviceIndex device;
  size_t address;
  size_t size;
  StreamId stream;
  int64_t time_us; // since the epoch
  Context context;
  MempoolId_t pool_id{0, 0};
  std::string user_metadata{}; // what setUserMetadata had said
};

// How a history is recorded.
struct HistoryOptions {
  bool enabled = false;
  CreateContextFn recorder = nullptr;
  RecordContext when = RecordContext::NEVER;
  size_t max_entries = std::numeric_limits<size_t>::max(); // for each device; a new entry replaces the oldest one
  std::vector<TraceEntry::Action> skip_actions;
  bool clear = false; // forget what was recorded before
};

struct SnapshotInfo {
  std::vector<SegmentInfo> segments;
  std::vector<std::vector<TraceEntry>> device_traces; // one for each device
};

} // namespace CachingDeviceAllocator

class C10_API DeviceAllocator : public Allocator {
 public:
  // Tells the allocator that work on `stream` uses this memory. After the memory is freed, the allocator waits for that
  // work before it reuses the block.
  virtual void recordStream(const DataPtr& ptr, Stream stream) = 0;
  virtual CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex device) = 0;
  virtual void resetAccumulatedStats(DeviceIndex device) = 0;
  virtual void resetPeakStats(DeviceIndex device) = 0;
};

// Returns the allocator of a type of device. Raises RuntimeError if that allocator is not a DeviceAllocator, as the
// CPU's is not.
C10_API DeviceAllocator* getDeviceAllocator(DeviceType type);

} // namespace reftorch::c10
