// Mirrors: c10/cuda/CUDACachingAllocator.cpp, aten/src/ATen/core/CachingHostAllocator.h: the part that both share
#include <c10/cuda/CachedBlocks.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace reftorch::c10::cuda {

constexpr size_t kMinBlockSize = 512;

static std::pair<StreamId, DeviceIndex> pool_of(const Stream& stream) {
  return {stream.id(), stream.device_index()};
}

Block* CachedBlocks::allocate(size_t request, Stream stream) {
  const size_t size = (request + kMinBlockSize - 1) / kMinBlockSize * kMinBlockSize;
  std::lock_guard<std::mutex> lock(mutex_);
  collect_pending();
  auto& pool = unused_[pool_of(stream)];
  auto fitting = pool.lower_bound(size);
  Block* block = nullptr;
  if (fitting != pool.end() && fitting->first < 2 * size) {
    block = fitting->second;
    pool.erase(fitting);
  } else {
    void* data = get_(size);
    if (data == nullptr) {
      empty_locked();
      data = get_(size);
    }
    if (data == nullptr) {
      return nullptr;
    }
    block = new Block{data, size, 0, stream, {}};
    stats_.reserved_bytes += static_cast<int64_t>(size);
    stats_.peak_reserved_bytes = std::max(stats_.peak_reserved_bytes, stats_.reserved_bytes);
  }
  block->request = request;
  stats_.allocated_bytes += static_cast<int64_t>(block->size);
  stats_.peak_allocated_bytes = std::max(stats_.peak_allocated_bytes, stats_.allocated_bytes);
  return block;
}

void CachedBlocks::free(Block* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.allocated_bytes -= static_cast<int64_t>(block->size);
  if (block->used_on.empty()) {
    unused_[pool_of(block->stream)].emplace(block->size, block);
    return;
  }
  Pending pending{block, {}};
  try {
    for (const Stream& stream : block->used_on) {
      pending.events.emplace_back(stream.device_type());
      pending.events.back().record(stream);
    }
  } catch (const Error&) {
    // The device has failed and runs nothing any more, so the block stays unused. A destructor calls this function, so
    // the error must not leave it.
    return;
  }
  block->used_on.clear();
  pending_.push_back(std::move(pending));
}

void CachedBlocks::collect_pending() {
  for (auto it = pending_.begin(); it != pending_.end();) {
    if (std::all_of(it->events.begin(), it->events.end(), [](const Event& event) { return event.query(); })) {
      unused_[pool_of(it->block->stream)].emplace(it->block->size, it->block);
      it = pending_.erase(it);
    } else {
      ++it;
    }
  }
}

void CachedBlocks::record_stream(Block* block, Stream stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool known = std::find(block->used_on.begin(), block->used_on.end(), stream) != block->used_on.end();
  if (stream != block->stream && !known) {
    block->used_on.push_back(stream);
  }
}

size_t CachedBlocks::empty() {
  std::lock_guard<std::mutex> lock(mutex_);
  return empty_locked();
}

size_t CachedBlocks::empty_locked() {
  for (Pending& pending : pending_) {
    for (const Event& event : pending.events) {
      event.synchronize();
    }
  }
  collect_pending();
  size_t bytes = 0;
  for (auto& [stream, pool] : unused_) {
    for (auto& [size, block] : pool) {
      give_back_(block->data);
      bytes += size;
      delete block;
    }
    pool.clear();
  }
  stats_.reserved_bytes -= static_cast<int64_t>(bytes);
  return bytes;
}

DeviceStats CachedBlocks::stats() {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

void CachedBlocks::reset_peak_stats() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.peak_allocated_bytes = stats_.allocated_bytes;
  stats_.peak_reserved_bytes = stats_.reserved_bytes;
}

} // namespace reftorch::c10::cuda
