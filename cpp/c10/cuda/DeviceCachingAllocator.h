// Mirrors: c10/cuda/CUDACachingAllocator.cpp (DeviceCachingAllocator)
//
// The cached memory of one device.
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
// Note [Segments and blocks]
// Problem: a request to the device is slow, and programs ask for memory of many sizes. Trick: the allocator asks the
// device for segments and hands out their parts, the blocks. There are two pools. A request of at most 1 MiB is served
// from segments of 2 MiB; a request of less than 10 MiB from segments of 20 MiB; a larger request gets a segment of its
// own size. A request takes the smallest unused block of its stream that is large enough. The rest of this block
// becomes a block of its own, and a freed block is merged with unused neighbours of its segment. Limits: a segment can
// be returned to the device only when all of its blocks are unused, so one small tensor may hold a large segment. This
// is fragmentation: much memory is reserved, little of it allocated, and no unused block is large enough.
// PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:N forbids to split large blocks. Expandable segments, which PyTorch maps
// page by page, are left out.
//
// Note [Private pools]
// Problem: the kernels of a CUDA graph have the addresses of their tensors in them. The tensors that are made during a
// capture are gone at its end, but each replay writes to their memory again. Trick: while a capture is underway, the
// allocator serves the requests of its streams from a pool of its own. The memory of this pool is reused inside of the
// pool only, and goes back to the device after the last user of the pool, such as the graph, has released the pool and
// the last tensor in the pool has gone. torch.cuda.use_mem_pool directs the requests of a thread to a pool in the same
// way. Limits: a capture must not ask whether events have passed, so blocks that wait for another stream stay active
// until no capture is underway. No memory is returned to the device meanwhile, also not to make room for a request.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace reftorch::c10::cuda {

namespace CUDACachingAllocator {
class CUDAAllocator;
}

struct BlockPool;
struct PrivatePool;

struct Block {
  Stream stream;
  size_t size;
  BlockPool* pool;
  char* ptr;
  size_t requested_size = 0; // what the program asked for
  bool allocated = false;    // whether a tensor owns the block
  Block* prev = nullptr;     // the neighbours in the segment
  Block* next = nullptr;
  std::vector<Stream> stream_uses{}; // other streams that use the block, announced with recordStream
  int event_count = 0;               // how many of these streams still use the block, after its tensor has gone
  int64_t unused_since = 0;          // BlockPool::searches when the block came into the pool
  CachingDeviceAllocator::Context context_when_allocated{};
  CachingDeviceAllocator::Context context_when_segment_allocated{};

  bool is_split() const {
    return prev != nullptr || next != nullptr;
  }
  bool is_active() const {
    return allocated || event_count > 0 || !stream_uses.empty();
  }
};

// The unused blocks of one kind, by stream, size and address.
struct BlockPool {
  using Blocks = std::map<std::tuple<StreamId, size_t, char*>, Block*>;
  Blocks blocks;
  const bool is_small;
  int64_t searches = 0; // counted while garbage is collected: the age of a block is a number of searches
  PrivatePool* const owner_private_pool = nullptr; // null for the pools of everybody

  void insert(Block* block) {
    block->unused_since = searches;
    blocks.emplace(std::make_tuple(block->stream.id(), block->size, block->ptr), block);
  }
  void erase(Block* block) {
    blocks.erase(std::make_tuple(block->stream.id(), block->size, block->ptr));
  }
};

// See Note [Private pools].
struct PrivatePool {
  explicit PrivatePool(MempoolId_t pool_id) : id(pool_id) {}
  PrivatePool(const PrivatePool&) = delete;
  PrivatePool& operator=(const PrivatePool&) = delete;

  const MempoolId_t id;
  CUDACachingAllocator::CUDAAllocator* allocator = nullptr; // serves the segments of the pool; null: the device
  bool use_on_oom = false; // whether its unused blocks serve other requests when the device is full
  bool no_split = false;   // whether each request gets a segment of its own
  int use_count = 1;       // graphs and other owners; at 0, unused segments of the pool may be returned
  int device_count = 0;    // segments
  BlockPool small_blocks{{}, true, 0, this};
  BlockPool large_blocks{{}, false, 0, this};
};

// Why an allocation failed, in bytes.
struct OutOfMemory {
  size_t segment_size; // what the device was asked for
  size_t allocated_bytes;
  size_t reserved_bytes;
  size_t allowed_memory_maximum; // 0 if there is no limit
};

// Any thread may call the functions. `allocate` is called while the device is current.
class DeviceCachingAllocator final {
 public:
  // `get` returns null if the device has no memory left.
  DeviceCachingAllocator(DeviceIndex device, void* (*get)(size_t bytes), void (*give_back)(void* data))
      : device_(device), get_(get), give_back_(give_back) {}

  // Returns null and says why if there is no memory left, even after the unused segments were returned to the device.
  // The block has `padding` bytes more than were requested.
  Block* allocate(size_t request, size_t padding, Stream stream, OutOfMemory& why);
  void free(Block* block);
  void recordStream(Block* block, Stream stream);
  // The same by an address; does nothing if no block begins there.
  void recordStream(const void* ptr, Stream stream);
  // Returns the segment of the block that begins at `ptr`, or null if there is none.
  char* segment_of(const void* ptr);
  // See setFreeMemoryCallback.
  static inline std::atomic<bool (*)()> free_memory_callback{nullptr};

  // Returns the unused segments to the device, or only those of one private pool that nobody uses any more. Returns
  // their number of bytes. Does nothing while requests go to a private pool.
  size_t emptyCache(MempoolId_t mempool_id = {0, 0});

  // From now on, requests for a stream of which `filter` is true are served from the pool. Makes the pool unless it
  // exists, and counts a use of it. Raises an Error if requests go to this pool already.
  void beginAllocateToPool(MempoolId_t mempool_id, std::function<bool(Stream)> filter);
  // Ends what the function above began, but not the use.
  void endAllocateToPool(MempoolId_t mempool_id);
  // Makes the pool unless it exists, and counts a use of it. `allocator` serves the segments of a new pool; null means
  // the device.
  void createOrIncrefPool(MempoolId_t mempool_id, CUDACachingAllocator::CUDAAllocator* allocator = nullptr);
  // Lets the unused blocks of the pool serve other requests when the device is full, until its last user releases it.
  void setUseOnOOM(MempoolId_t mempool_id);
  // Lets each request to the pool get a segment of its own.
  void setNoSplit(MempoolId_t mempool_id);
  // Returns whether the blocks that tensors own in the pool have exactly these addresses.
  bool checkPoolLiveAllocations(MempoolId_t mempool_id, const std::unordered_set<void*>& expected);
  // Ends one use.
  void releasePool(MempoolId_t mempool_id);
  int getPoolUseCount(MempoolId_t mempool_id);
  // From now on, this process gets at most this many bytes of the device; 0: as many as there are.
  void setAllowedMemoryMaximum(size_t bytes);
  size_t allowedMemoryMaximum();

  CachingDeviceAllocator::DeviceStats getStats();
  void resetAccumulatedStats();
  void resetPeakStats();

  // Returns the segments by address, each with its blocks; of one private pool only, unless the id is {0, 0}.
  std::vector<CachingDeviceAllocator::SegmentInfo> snapshot(MempoolId_t mempool_id = {0, 0});
  std::vector<CachingDeviceAllocator::TraceEntry> trace();
  void recordHistory(const CachingDeviceAllocator::HistoryOptions& options);
  // A text for each later entry of the history.
  void setUserMetadata(const std::string& metadata);
  std::string getUserMetadata();

 private:
  using Action = CachingDeviceAllocator::TraceEntry::Action;
  using Context = CachingDeviceAllocator::Context;
  using StatArray = CachingDeviceAllocator::StatArray;

  BlockPool& get_pool(size_t size, Stream stream);
  PrivatePool& private_pool(MempoolId_t mempool_id);
  std::vector<BlockPool*> all_pools();
  Block* find_unused(size_t size, Stream stream, BlockPool& pool);
  Block* find_in_spare_pools(size_t size, Stream stream);
  Block* new_segment(size_t segment_size, Stream stream, BlockPool& pool, bool retry, const Context& context);
  Block* take(Block* block, size_t size, size_t request, const Context& context);
  Block* find_allocated(const void* ptr);
  static bool should_split(const Block& block, size_t size);

  void free_block(Block* block, const Context& context);
  size_t merge(Block* block, Block* neighbour);
  void insert_events(Block* block);
  void insert_deferred_events();
  void process_events(const Context& context);
  void synchronize_and_free_events(const Context& context);

  void collect_garbage(const Context& context);
  bool release_large_enough(size_t size, Stream stream, BlockPool& pool, const Context& context);
  size_t release_unused_segments(const Context& context);
  size_t release_unused_segments(BlockPool& pool, const Context& context);
  size_t release_freeable_pools(MempoolId_t mempool_id, const Context& context);
  void release_segment(Block* block, const Context& context);

  void increase(StatArray& stat, const BlockPool& pool, size_t amount);
  void decrease(StatArray& stat, const BlockPool& pool, size_t amount);
  void count_oversize(CachingDeviceAllocator::Stat& stat, size_t size, bool more);
  Context gather_context(CachingDeviceAllocator::RecordContext level);
  void record(Action action, size_t address, size_t size, Stream stream, const Context& context,
              const BlockPool* pool = nullptr);

  const DeviceIndex device_;
  void* (*const get_)(size_t);
  void (*const give_back_)(void*);

  std::mutex mutex_; // of everything below
  BlockPool small_blocks_{{}, true};
  BlockPool large_blocks_{{}, false};
  std::map<MempoolId_t, std::unique_ptr<PrivatePool>> private_pools_;
  // The pools to which requests go now, each with a function that says for which streams.
  std::vector<std::pair<MempoolId_t, std::function<bool(Stream)>>> captures_underway_;
  std::vector<Block*> deferred_; // blocks that were freed during a capture and wait for other streams
  std::unordered_set<Block*> active_blocks_;
  // The blocks that wait for a stream, in the order of their events, by device and stream.
  std::map<std::pair<DeviceIndex, StreamId>, std::deque<std::pair<Event, Block*>>> events_;
  size_t total_allocated_memory_ = 0; // the bytes of all segments
  size_t allowed_memory_maximum_ = 0;
  CachingDeviceAllocator::DeviceStats stats_;

  CachingDeviceAllocator::HistoryOptions history_options_;
  std::string user_metadata_;
  std::deque<CachingDeviceAllocator::TraceEntry> history_;
  // Copies of two of the options, for gather_context, which holds no lock.
  std::atomic<CachingDeviceAllocator::CreateContextFn> context_recorder_{nullptr};
  std::atomic<CachingDeviceAllocator::RecordContext> record_context_{CachingDeviceAllocator::RecordContext::NEVER};
};

} // namespace reftorch::c10::cuda
