// Mirrors: c10/cuda/CUDACachingAllocator.cpp (DeviceCachingAllocator)
//
// The file is more than 500 lines long because the parts of the class share one lock and one set of blocks.
#include <c10/cuda/DeviceCachingAllocator.h>

#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>

namespace reftorch::c10::cuda {

using namespace reftorch::c10::CachingAllocator;
using namespace reftorch::c10::CachingDeviceAllocator;
using Config = AcceleratorAllocatorConfig;

// ---- sizes ----

// Rounds up to the next of `divisions` equal steps between two powers of two: with 4 divisions 1200 becomes 1280,
// because the steps after 1024 are 1280, 1536, 1792 and 2048.
static size_t round_up_to_division(size_t size, size_t divisions) {
  size_t power = kMinBlockSize;
  while (power <= size / 2) {
    power *= 2;
  }
  const size_t step = std::max<size_t>(power / divisions, 1);
  return (size + step - 1) / step * step;
}

static size_t round_size(size_t size) {
  const size_t divisions = Config::roundup_power2_divisions(std::max(size, kMinBlockSize));
  if (divisions > 1 && size > kMinBlockSize * divisions) {
    return round_up_to_division(size, divisions);
  }
  return std::max((size + kMinBlockSize - 1) / kMinBlockSize * kMinBlockSize, kMinBlockSize);
}

static size_t get_allocation_size(size_t size) {
  if (size <= kSmallSize) {
    return kSmallBuffer;
  }
  if (size < kMinLargeAlloc) {
    return Config::large_segment_size();
  }
  return (size + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
}

// ---- counters and history ----

void DeviceCachingAllocator::increase(StatArray& stat, const BlockPool& pool, size_t amount) {
  stat[static_cast<size_t>(StatType::AGGREGATE)].increase(amount);
  stat[static_cast<size_t>(pool.is_small ? StatType::SMALL_POOL : StatType::LARGE_POOL)].increase(amount);
}

void DeviceCachingAllocator::decrease(StatArray& stat, const BlockPool& pool, size_t amount) {
  stat[static_cast<size_t>(StatType::AGGREGATE)].decrease(amount);
  stat[static_cast<size_t>(pool.is_small ? StatType::SMALL_POOL : StatType::LARGE_POOL)].decrease(amount);
}

void DeviceCachingAllocator::count_oversize(Stat& stat, size_t size, bool more) {
  if (size >= Config::max_split_size()) {
    more ? stat.increase(1) : stat.decrease(1);
  }
}

DeviceStats DeviceCachingAllocator::getStats() {
  std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats stats = stats_;
  const size_t max_split_size = Config::max_split_size();
  stats.max_split_size =
      max_split_size == std::numeric_limits<size_t>::max() ? -1 : static_cast<int64_t>(max_split_size);
  return stats;
}

void DeviceCachingAllocator::resetAccumulatedStats() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.for_each([](Stat& stat) { stat.allocated = stat.freed = 0; });
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = stats_.num_device_free = 0;
}

void DeviceCachingAllocator::resetPeakStats() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.for_each([](Stat& stat) { stat.peak = stat.current; });
}

// The recorder may wait for Python's lock, whose holder may wait for mutex_. So this function is called without mutex_.
Context DeviceCachingAllocator::gather_context(RecordContext level) {
  const CreateContextFn recorder = context_recorder_.load();
  return recorder != nullptr && record_context_.load() >= level ? recorder() : nullptr;
}

void DeviceCachingAllocator::record(Action action, size_t address, size_t size, Stream stream, const Context& context,
                                    const BlockPool* pool) {
  const HistoryOptions& options = history_options_;
  const auto& skipped = options.skip_actions;
  if (!options.enabled || options.max_entries == 0 ||
      std::find(skipped.begin(), skipped.end(), action) != skipped.end()) {
    return;
  }
  if (history_.size() >= options.max_entries) {
    history_.pop_front();
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  history_.push_back(
      {action, device_, address, size, stream.id(), std::chrono::duration_cast<std::chrono::microseconds>(now).count(),
       options.when >= RecordContext::ALLOC ? context : nullptr,
       pool != nullptr && pool->owner_private_pool != nullptr ? pool->owner_private_pool->id : MempoolId_t{0, 0},
       user_metadata_});
}

void DeviceCachingAllocator::recordHistory(const HistoryOptions& options) {
  std::lock_guard<std::mutex> lock(mutex_);
  history_options_ = options;
  context_recorder_ = options.recorder;
  record_context_ = options.when;
  if (options.clear || !options.enabled) {
    history_.clear();
  }
}

void DeviceCachingAllocator::setUserMetadata(const std::string& metadata) {
  std::lock_guard<std::mutex> lock(mutex_);
  user_metadata_ = metadata;
}

std::string DeviceCachingAllocator::getUserMetadata() {
  std::lock_guard<std::mutex> lock(mutex_);
  return user_metadata_;
}

std::vector<TraceEntry> DeviceCachingAllocator::trace() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {history_.begin(), history_.end()};
}

std::vector<SegmentInfo> DeviceCachingAllocator::snapshot(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<const Block*> heads;
  for (const BlockPool* pool : all_pools()) {
    for (const auto& [key, block] : pool->blocks) {
      heads.push_back(block);
    }
  }
  heads.insert(heads.end(), active_blocks_.begin(), active_blocks_.end());
  heads.erase(std::remove_if(heads.begin(), heads.end(), [](const Block* b) { return b->prev != nullptr; }),
              heads.end());
  std::sort(heads.begin(), heads.end(), [](const Block* a, const Block* b) { return a->ptr < b->ptr; });

  std::vector<SegmentInfo> segments;
  size_t total_active = 0;
  for (const Block* head : heads) {
    const PrivatePool* owner = head->pool->owner_private_pool;
    if (mempool_id != MempoolId_t{0, 0} && (owner == nullptr || owner->id != mempool_id)) {
      continue;
    }
    SegmentInfo segment{};
    segment.owner_private_pool_id = owner != nullptr ? owner->id : MempoolId_t{0, 0};
    segment.device = device_;
    segment.address = reinterpret_cast<size_t>(head->ptr);
    segment.stream = head->stream.id();
    segment.is_large = !head->pool->is_small;
    segment.context_when_allocated = head->context_when_segment_allocated;
    for (const Block* block = head; block != nullptr; block = block->next) {
      const bool active = block->is_active();
      segment.total_size += block->size;
      segment.allocated_size += block->allocated ? block->size : 0;
      segment.active_size += active ? block->size : 0;
      segment.requested_size += active ? block->requested_size : 0;
      segment.blocks.push_back({reinterpret_cast<size_t>(block->ptr), block->size, block->requested_size,
                                block->allocated, active, block->context_when_allocated});
    }
    total_active += segment.active_size;
    segments.push_back(std::move(segment));
  }
  record(Action::SNAPSHOT, 0, total_active, Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device_), 0), nullptr);
  return segments;
}

// ---- allocation ----

Block* DeviceCachingAllocator::allocate(size_t request, size_t padding, Stream stream, OutOfMemory& why) {
  const Context context = gather_context(RecordContext::STATE);
  std::unique_lock<std::mutex> lock(mutex_);
  bool captures = !captures_underway_.empty();
  if (!captures) {
    insert_deferred_events();
    process_events(context);
  }
  const size_t size = round_size(request + padding);
  BlockPool& pool = get_pool(size, stream);
  const size_t segment_size = get_allocation_size(size);
  Block* block = find_unused(size, stream, pool);
  bool (*const callback)() = free_memory_callback.load();
  if (block == nullptr && !captures && callback != nullptr) {
    lock.unlock(); // the function frees blocks
    const bool has_freed = callback();
    lock.lock();
    captures = !captures_underway_.empty();
    block = has_freed ? find_unused(size, stream, pool) : nullptr;
  }
  if (block == nullptr) {
    if (!captures) {
      collect_garbage(context);
    }
    block = new_segment(segment_size, stream, pool, /*retry=*/false, context);
  }
  if (block == nullptr && !captures && release_large_enough(size, stream, pool, context)) {
    block = new_segment(segment_size, stream, pool, /*retry=*/false, context);
  }
  if (block == nullptr && !captures) {
    release_unused_segments(context);
    block = new_segment(segment_size, stream, pool, /*retry=*/true, context);
  }
  if (block == nullptr && pool.owner_private_pool == nullptr) {
    block = find_in_spare_pools(size, stream);
  }
  if (block == nullptr) {
    stats_.num_ooms++;
    why = {segment_size, static_cast<size_t>(stats_.allocated_bytes[0].current),
           static_cast<size_t>(stats_.reserved_bytes[0].current), allowed_memory_maximum_};
    record(Action::OOM, 0, size, stream, context);
    return nullptr;
  }
  return take(block, size, request, context);
}

BlockPool& DeviceCachingAllocator::get_pool(size_t size, Stream stream) {
  for (auto it = captures_underway_.rbegin(); it != captures_underway_.rend(); ++it) { // the innermost scope first
    if (it->second(stream)) {
      PrivatePool& pool = private_pool(it->first);
      return size <= kSmallSize ? pool.small_blocks : pool.large_blocks;
    }
  }
  return size <= kSmallSize ? small_blocks_ : large_blocks_;
}

// Returns the smallest unused block that is large enough, after taking it out of the pool, or null.
Block* DeviceCachingAllocator::find_unused(size_t size, Stream stream, BlockPool& pool) {
  pool.searches++;
  const auto found = pool.blocks.lower_bound({stream.id(), size, nullptr});
  if (found == pool.blocks.end() || found->second->stream.id() != stream.id()) {
    return nullptr;
  }
  Block* block = found->second;
  const size_t max_split_size = Config::max_split_size();
  // A block that is not split would be wasted on a small request, and on a much smaller large one.
  if (block->size >= max_split_size &&
      (size < max_split_size || block->size >= size + Config::max_non_split_rounding_size())) {
    return nullptr;
  }
  pool.blocks.erase(found);
  return block;
}

// The device is full: looks for an unused block in the pools that allow this. Returns null if there is none.
Block* DeviceCachingAllocator::find_in_spare_pools(size_t size, Stream stream) {
  for (const auto& [id, spare] : private_pools_) {
    if (spare->use_on_oom) {
      Block* block = find_unused(size, stream, size <= kSmallSize ? spare->small_blocks : spare->large_blocks);
      if (block != nullptr) {
        return block;
      }
    }
  }
  return nullptr;
}

// Returns a block that is a whole new segment, or null if there is no memory left.
Block* DeviceCachingAllocator::new_segment(size_t segment_size, Stream stream, BlockPool& pool, bool retry,
                                           const Context& context) {
  if (retry) {
    stats_.num_alloc_retries++;
  }
  const bool allowed =
      allowed_memory_maximum_ == 0 || total_allocated_memory_ + segment_size <= allowed_memory_maximum_;
  const PrivatePool* owner = pool.owner_private_pool;
  void* data = !allowed ? nullptr
               : owner != nullptr && owner->allocator != nullptr
                   ? owner->allocator->raw_alloc_with_stream(segment_size, stream)
                   : get_(segment_size);
  if (data == nullptr) {
    return nullptr;
  }
  total_allocated_memory_ += segment_size;
  if (pool.owner_private_pool != nullptr) {
    pool.owner_private_pool->device_count++;
  }
  auto* block = new Block{stream, segment_size, &pool, static_cast<char*>(data)};
  // With the option "state", only the places of the tensors in use are kept.
  block->context_when_segment_allocated = record_context_.load() >= RecordContext::ALLOC ? context : nullptr;
  increase(stats_.segment, pool, 1);
  increase(stats_.reserved_bytes, pool, segment_size);
  count_oversize(stats_.oversize_segments, segment_size, /*more=*/true);
  stats_.num_device_alloc++;
  record(Action::SEGMENT_ALLOC, reinterpret_cast<size_t>(data), segment_size, stream, context, &pool);
  return block;
}

bool DeviceCachingAllocator::should_split(const Block& block, size_t size) {
  if (block.pool->owner_private_pool != nullptr && block.pool->owner_private_pool->no_split) {
    return false;
  }
  const size_t rest = block.size - size;
  return block.pool->is_small ? rest >= kMinBlockSize : size < Config::max_split_size() && rest > kSmallSize;
}

// Gives the first `size` bytes of an unused block to a tensor. What is left becomes an unused block of its own.
Block* DeviceCachingAllocator::take(Block* block, size_t size, size_t request, const Context& context) {
  BlockPool& pool = *block->pool;
  if (block->is_split()) { // it was counted when it became unused
    decrease(stats_.inactive_split, pool, 1);
    decrease(stats_.inactive_split_bytes, pool, block->size);
  }
  if (should_split(*block, size)) {
    auto* rest = new Block{block->stream, block->size - size, &pool, block->ptr + size};
    rest->prev = block;
    rest->next = block->next;
    if (rest->next != nullptr) {
      rest->next->prev = rest;
    }
    block->next = rest;
    block->size = size;
    pool.insert(rest);
    increase(stats_.inactive_split, pool, 1);
    increase(stats_.inactive_split_bytes, pool, rest->size);
  }
  block->allocated = true;
  block->requested_size = request;
  block->context_when_allocated = context;
  active_blocks_.insert(block);
  increase(stats_.allocation, pool, 1);
  increase(stats_.allocated_bytes, pool, block->size);
  increase(stats_.active, pool, 1);
  increase(stats_.active_bytes, pool, block->size);
  increase(stats_.requested_bytes, pool, request);
  count_oversize(stats_.oversize_allocations, block->size, /*more=*/true);
  record(Action::ALLOC, reinterpret_cast<size_t>(block->ptr), request, block->stream, context, &pool);
  return block;
}

// ---- free ----

void DeviceCachingAllocator::free(Block* block) {
  const Context context = gather_context(RecordContext::ALL);
  std::lock_guard<std::mutex> lock(mutex_);
  block->allocated = false;
  decrease(stats_.allocation, *block->pool, 1);
  decrease(stats_.allocated_bytes, *block->pool, block->size);
  count_oversize(stats_.oversize_allocations, block->size, /*more=*/false);
  record(Action::FREE_REQUESTED, reinterpret_cast<size_t>(block->ptr), block->requested_size, block->stream,
         context ? context : block->context_when_allocated, block->pool);
  if (block->stream_uses.empty()) {
    free_block(block, context);
  } else if (!captures_underway_.empty()) {
    deferred_.push_back(block);
  } else {
    insert_events(block);
  }
}

void DeviceCachingAllocator::recordStream(Block* block, Stream stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& uses = block->stream_uses;
  if (stream != block->stream && std::find(uses.begin(), uses.end(), stream) == uses.end()) {
    uses.push_back(stream);
  }
}

void DeviceCachingAllocator::recordStream(const void* ptr, Stream stream) {
  Block* block = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    block = find_allocated(ptr);
  }
  if (block != nullptr) { // the caller has the tensor, so the block stays
    recordStream(block, stream);
  }
}

// Looks at all blocks, because only tensors that were sent to other processes are looked for.
Block* DeviceCachingAllocator::find_allocated(const void* ptr) {
  const auto found = std::find_if(active_blocks_.begin(), active_blocks_.end(),
                                  [&](const Block* block) { return block->allocated && block->ptr == ptr; });
  return found != active_blocks_.end() ? *found : nullptr;
}

char* DeviceCachingAllocator::segment_of(const void* ptr) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Block* block = find_allocated(ptr);
  while (block != nullptr && block->prev != nullptr) {
    block = block->prev;
  }
  return block != nullptr ? block->ptr : nullptr;
}

void DeviceCachingAllocator::insert_events(Block* block) {
  std::vector<std::pair<Stream, Event>> recorded;
  try {
    for (const Stream& stream : block->stream_uses) {
      Event event(stream.device_type());
      event.record(stream);
      recorded.emplace_back(stream, std::move(event));
    }
  } catch (const Error&) {
    // The device has failed and runs nothing any more, so the block stays active for ever. A destructor calls free(),
    // so the error must not leave this function.
    return;
  }
  block->stream_uses.clear();
  for (auto& [stream, event] : recorded) {
    events_[{stream.device_index(), stream.id()}].emplace_back(std::move(event), block);
    block->event_count++;
  }
}

// No capture is underway.
void DeviceCachingAllocator::insert_deferred_events() {
  for (Block* block : deferred_) {
    insert_events(block);
  }
  deferred_.clear();
}

// Frees the blocks whose last event has passed.
void DeviceCachingAllocator::process_events(const Context& context) {
  for (auto& [stream, waiting] : events_) {
    while (!waiting.empty() && waiting.front().first.query()) {
      Block* block = waiting.front().second;
      waiting.pop_front();
      if (--block->event_count == 0) {
        free_block(block, context);
      }
    }
  }
}

void DeviceCachingAllocator::synchronize_and_free_events(const Context& context) {
  stats_.num_sync_all_streams++;
  for (auto& [stream, waiting] : events_) {
    if (!waiting.empty()) {
      waiting.back().first.synchronize(); // the others come earlier on the same stream
    }
  }
  process_events(context);
}

// Puts a block into its pool, after merging it with unused neighbours.
void DeviceCachingAllocator::free_block(Block* block, const Context& context) {
  record(Action::FREE_COMPLETED, reinterpret_cast<size_t>(block->ptr), block->requested_size, block->stream,
         context ? context : block->context_when_allocated, block->pool);
  BlockPool& pool = *block->pool;
  decrease(stats_.active, pool, 1);
  decrease(stats_.active_bytes, pool, block->size);
  decrease(stats_.requested_bytes, pool, block->requested_size);
  block->context_when_allocated = nullptr;
  block->requested_size = 0;
  active_blocks_.erase(block);
  for (Block* neighbour : {block->prev, block->next}) {
    if (neighbour != nullptr && !neighbour->is_active()) {
      const size_t bytes = merge(block, neighbour);
      decrease(stats_.inactive_split, pool, 1);
      decrease(stats_.inactive_split_bytes, pool, bytes);
    }
  }
  pool.insert(block);
  if (block->is_split()) {
    increase(stats_.inactive_split, pool, 1);
    increase(stats_.inactive_split_bytes, pool, block->size);
  }
}

// Makes an unused neighbour a part of `block`. Returns the neighbour's size.
size_t DeviceCachingAllocator::merge(Block* block, Block* neighbour) {
  neighbour->pool->erase(neighbour);
  if (block->prev == neighbour) {
    block->ptr = neighbour->ptr;
    block->prev = neighbour->prev;
    block->context_when_segment_allocated = neighbour->context_when_segment_allocated;
    if (block->prev != nullptr) {
      block->prev->next = block;
    }
  } else {
    block->next = neighbour->next;
    if (block->next != nullptr) {
      block->next->prev = block;
    }
  }
  const size_t bytes = neighbour->size;
  block->size += bytes;
  delete neighbour;
  return bytes;
}

// ---- private pools ----

PrivatePool& DeviceCachingAllocator::private_pool(MempoolId_t mempool_id) {
  const auto found = private_pools_.find(mempool_id);
  TORCH_CHECK(found != private_pools_.end(), "Could not find pool of id (", mempool_id.first, ", ", mempool_id.second,
              ") on device ", static_cast<int>(device_));
  return *found->second;
}

std::vector<BlockPool*> DeviceCachingAllocator::all_pools() {
  std::vector<BlockPool*> pools{&small_blocks_, &large_blocks_};
  for (const auto& [id, pool] : private_pools_) {
    pools.insert(pools.end(), {&pool->small_blocks, &pool->large_blocks});
  }
  return pools;
}

static void create_or_incref(std::map<MempoolId_t, std::unique_ptr<PrivatePool>>& pools, MempoolId_t mempool_id,
                             CUDACachingAllocator::CUDAAllocator* allocator = nullptr) {
  const auto found = pools.find(mempool_id);
  if (found == pools.end()) {
    pools.emplace(mempool_id, std::make_unique<PrivatePool>(mempool_id)).first->second->allocator = allocator;
  } else {
    found->second->use_count++;
  }
}

void DeviceCachingAllocator::createOrIncrefPool(MempoolId_t mempool_id,
                                                CUDACachingAllocator::CUDAAllocator* allocator) {
  std::lock_guard<std::mutex> lock(mutex_);
  create_or_incref(private_pools_, mempool_id, allocator);
}

void DeviceCachingAllocator::setUseOnOOM(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  private_pool(mempool_id).use_on_oom = true;
}

void DeviceCachingAllocator::setNoSplit(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  private_pool(mempool_id).no_split = true;
}

bool DeviceCachingAllocator::checkPoolLiveAllocations(MempoolId_t mempool_id,
                                                      const std::unordered_set<void*>& expected) {
  std::lock_guard<std::mutex> lock(mutex_);
  const PrivatePool& pool = private_pool(mempool_id);
  size_t found = 0;
  for (const Block* block : active_blocks_) {
    if (block->allocated && block->pool->owner_private_pool == &pool) {
      if (expected.count(block->ptr) == 0) {
        return false;
      }
      found++;
    }
  }
  return found == expected.size();
}

void DeviceCachingAllocator::beginAllocateToPool(MempoolId_t mempool_id, std::function<bool(Stream)> filter) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, other] : captures_underway_) {
    TORCH_CHECK(id != mempool_id, "beginAllocateToPool: already recording to mempool_id");
  }
  create_or_incref(private_pools_, mempool_id);
  captures_underway_.emplace_back(mempool_id, std::move(filter));
}

void DeviceCachingAllocator::endAllocateToPool(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(captures_underway_.begin(), captures_underway_.end(),
                                  [&](const auto& each) { return each.first == mempool_id; });
  TORCH_CHECK(found != captures_underway_.end(), "endAllocatePool: not currently recording to mempool_id");
  captures_underway_.erase(found);
}

void DeviceCachingAllocator::releasePool(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  PrivatePool& pool = private_pool(mempool_id);
  TORCH_INTERNAL_ASSERT(pool.use_count > 0, "a private pool was released too often");
  if (--pool.use_count == 0) {
    pool.use_on_oom = false;
  }
}

int DeviceCachingAllocator::getPoolUseCount(MempoolId_t mempool_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = private_pools_.find(mempool_id);
  return found != private_pools_.end() ? found->second->use_count : 0;
}

// ---- giving segments back to the device ----

size_t DeviceCachingAllocator::emptyCache(MempoolId_t mempool_id) {
  const Context context = gather_context(RecordContext::ALL);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!captures_underway_.empty()) {
    return 0;
  }
  return mempool_id == MempoolId_t{0, 0} ? release_unused_segments(context)
                                         : release_freeable_pools(mempool_id, context);
}

void DeviceCachingAllocator::setAllowedMemoryMaximum(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  allowed_memory_maximum_ = bytes;
}

size_t DeviceCachingAllocator::allowedMemoryMaximum() {
  std::lock_guard<std::mutex> lock(mutex_);
  return allowed_memory_maximum_;
}

// The block is a whole unused segment. It is in its pool.
void DeviceCachingAllocator::release_segment(Block* block, const Context& context) {
  BlockPool& pool = *block->pool;
  record(Action::SEGMENT_FREE, reinterpret_cast<size_t>(block->ptr), block->size, block->stream,
         context ? context : block->context_when_segment_allocated, &pool);
  pool.erase(block);
  if (pool.owner_private_pool != nullptr && pool.owner_private_pool->allocator != nullptr) {
    pool.owner_private_pool->allocator->raw_delete(block->ptr);
  } else {
    give_back_(block->ptr);
  }
  if (pool.owner_private_pool != nullptr) {
    pool.owner_private_pool->device_count--;
  }
  total_allocated_memory_ -= block->size;
  decrease(stats_.segment, pool, 1);
  decrease(stats_.reserved_bytes, pool, block->size);
  count_oversize(stats_.oversize_segments, block->size, /*more=*/false);
  stats_.num_device_free++;
  delete block;
}

// Returns all unused segments, after waiting for the streams that other blocks wait for.
size_t DeviceCachingAllocator::release_unused_segments(const Context& context) {
  insert_deferred_events();
  synchronize_and_free_events(context);
  return release_unused_segments(small_blocks_, context) + release_unused_segments(large_blocks_, context) +
         release_freeable_pools({0, 0}, context);
}

size_t DeviceCachingAllocator::release_unused_segments(BlockPool& pool, const Context& context) {
  size_t bytes = 0;
  for (auto it = pool.blocks.begin(); it != pool.blocks.end();) {
    Block* block = (it++)->second;
    if (!block->is_split()) {
      bytes += block->size;
      release_segment(block, context);
    }
  }
  return bytes;
}

// Returns the unused segments of the private pools that nobody uses any more, or of one of them. A pool ends with its
// last segment.
size_t DeviceCachingAllocator::release_freeable_pools(MempoolId_t mempool_id, const Context& context) {
  size_t bytes = 0;
  for (auto it = private_pools_.begin(); it != private_pools_.end();) {
    PrivatePool& pool = *it->second;
    if (pool.use_count == 0 && (mempool_id == MempoolId_t{0, 0} || mempool_id == pool.id)) {
      bytes +=
          release_unused_segments(pool.small_blocks, context) + release_unused_segments(pool.large_blocks, context);
      if (pool.device_count == 0) {
        it = private_pools_.erase(it);
        continue;
      }
    }
    ++it;
  }
  return bytes;
}

// Returns unused segments that are too large to be split, until the device has room for the request. Says whether this
// was possible.
bool DeviceCachingAllocator::release_large_enough(size_t size, Stream stream, BlockPool& pool, const Context& context) {
  const size_t max_split_size = Config::max_split_size();
  if (max_split_size == std::numeric_limits<size_t>::max()) {
    return false;
  }
  const size_t wanted = std::max(size, max_split_size);
  const auto large_enough = pool.blocks.lower_bound({stream.id(), wanted, nullptr});
  if (large_enough != pool.blocks.end() && large_enough->second->stream.id() == stream.id()) {
    const bool whole = !large_enough->second->is_split();
    if (whole) {
      release_segment(large_enough->second, context);
    }
    return whole;
  }
  size_t released = 0;
  for (auto it = large_enough; released < wanted && it != pool.blocks.begin();) {
    Block* block = (--it)->second;
    if (block->stream.id() != stream.id() || block->size < max_split_size) {
      break;
    }
    if (!block->is_split()) {
      released += block->size;
      ++it; // the neighbour stays valid
      release_segment(block, context);
    }
  }
  return released >= wanted;
}

// If much of the allowed memory is reserved, returns the unused segments that nobody has wanted for the longest time.
void DeviceCachingAllocator::collect_garbage(const Context& context) {
  const size_t threshold =
      static_cast<size_t>(Config::garbage_collection_threshold() * static_cast<double>(allowed_memory_maximum_));
  if (threshold == 0 || total_allocated_memory_ <= threshold) {
    return;
  }
  const size_t target = total_allocated_memory_ - threshold;
  const auto age = [&](const Block* block) { return large_blocks_.searches - block->unused_since; };
  for (size_t reclaimed = 0; reclaimed < target;) {
    std::vector<Block*> whole;
    int64_t total_age = 0;
    for (const auto& [key, block] : large_blocks_.blocks) {
      if (!block->is_split()) {
        whole.push_back(block);
        total_age += age(block);
      }
    }
    if (whole.empty()) {
      return;
    }
    const double mean_age = static_cast<double>(total_age) / static_cast<double>(whole.size());
    for (Block* block : whole) {
      if (static_cast<double>(age(block)) >= mean_age) { // true for at least one of them
        reclaimed += block->size;
        release_segment(block, context);
      }
    }
  }
}

} // namespace reftorch::c10::cuda
