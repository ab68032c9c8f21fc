// Mirrors: aten/src/ATen/cuda/CachingHostAllocator.cpp, aten/src/ATen/cuda/PinnedMemoryAllocator.h
#include <c10/cuda/CachingHostAllocator.h>

#include <c10/core/Event.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace reftorch::c10::cuda {
namespace {

void* get_pinned_memory(size_t bytes) {
  const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
  void* data = nullptr;
  const cudaError_t error = cudaMallocHost(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  C10_CUDA_CHECK(error);
  return data;
}
void give_pinned_memory_back(void* data) {
  const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
  C10_CUDA_IGNORE_ERROR(cudaFreeHost(data));
}

struct HostBlock {
  void* data;
  size_t size;                 // bytes, rounded up
  std::vector<Stream> used_on; // the streams that use the block, announced with CachingHostAllocator_recordEvent
};

// The blocks of pinned memory. Host memory belongs to no stream, so every stream that uses a block has to be announced.
// The blocks are neither split nor merged. Their sizes are powers of two, and a block is reused for requests that are
// rounded up to its size; of several blocks, the one that was freed last. A stream
// that captures cannot say when it has used a block, because each replay uses the block again. So a block that is freed
// during the capture waits for the end of the capture; the program keeps a block that a replay needs.
class CachingHostAllocatorImpl {
 public:
  HostBlock* allocate(size_t request) {
    size_t size = 1;
    while (size < request) {
      size *= 2;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    for (const bool collected : {false, true}) {
      if (collected) {
        collect_pending();
      }
      const auto [first, last] = unused_.equal_range(size);
      if (first != last) {
        const auto latest = std::prev(last);
        HostBlock* block = latest->second;
        unused_.erase(latest);
        count_active(size);
        return block;
      }
    }
    const auto begin = Clock::now();
    void* data = get_pinned_memory(size);
    if (data == nullptr) {
      empty_locked();
      data = get_pinned_memory(size);
    }
    if (data == nullptr) {
      return nullptr;
    }
    stats_.host_alloc_time.add(microseconds_since(begin));
    stats_.num_host_alloc++;
    stats_.allocations.increase(1);
    stats_.allocated_bytes.increase(size);
    count_active(size);
    return new HostBlock{data, size, {}};
  }

  void free(HostBlock* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_locked(block);
  }

  void record_stream(HostBlock* block, Stream stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::find(block->used_on.begin(), block->used_on.end(), stream) == block->used_on.end()) {
      block->used_on.push_back(stream);
    }
  }

  // Returns the unused blocks to CUDA. Returns their number of bytes.
  size_t empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    return empty_locked();
  }

  HostStats stats() {
    std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }
  void reset_accumulated() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (CachingDeviceAllocator::Stat* stat : counters()) {
      stat->allocated = stat->freed = 0;
    }
    stats_.host_alloc_time = stats_.host_free_time = {};
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }
  void reset_peak() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (CachingDeviceAllocator::Stat* stat : counters()) {
      stat->peak = stat->current;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  static int64_t microseconds_since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  }
  std::array<CachingDeviceAllocator::Stat*, 4> counters() {
    return {&stats_.allocations, &stats_.active_requests, &stats_.allocated_bytes, &stats_.active_bytes};
  }
  void count_active(size_t size) {
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(size);
  }
  // Keeps a block that nobody uses any more.
  void keep(HostBlock* block) {
    unused_.emplace(block->size, block); // behind the blocks of the same size
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(block->size);
  }

  struct Pending { // a freed block that streams still use
    HostBlock* block;
    std::vector<Event> events;
  };

  void free_locked(HostBlock* block) {
    if (block->used_on.empty()) {
      keep(block);
      return;
    }
    Pending pending{block, {}};
    try {
      for (const Stream& stream : block->used_on) {
        if (capture_status(CUDAStream(stream)) != CaptureStatus::None) {
          deferred_.push_back(block);
          return;
        }
      }
      for (const Stream& stream : block->used_on) {
        pending.events.emplace_back(stream.device_type());
        pending.events.back().record(stream);
      }
    } catch (const Error&) {
      // The device has failed and runs nothing any more, so the block stays unused. A destructor calls this function,
      // so the error must not leave it.
      return;
    }
    block->used_on.clear();
    pending_.push_back(std::move(pending));
  }

  // May be called while another stream captures, which would forbid the questions.
  void collect_pending() {
    const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    for (HostBlock* block : std::exchange(deferred_, {})) {
      free_locked(block);
    }
    for (auto it = pending_.begin(); it != pending_.end();) {
      if (std::all_of(it->events.begin(), it->events.end(), [](const Event& event) { return event.query(); })) {
        keep(it->block);
        it = pending_.erase(it);
      } else {
        ++it;
      }
    }
  }

  size_t empty_locked() {
    const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    for (Pending& pending : pending_) {
      for (const Event& event : pending.events) {
        event.synchronize();
      }
    }
    collect_pending();
    size_t bytes = 0;
    for (auto& [size, block] : unused_) {
      const auto begin = Clock::now();
      give_pinned_memory_back(block->data);
      stats_.host_free_time.add(microseconds_since(begin));
      stats_.num_host_free++;
      stats_.allocations.decrease(1);
      stats_.allocated_bytes.decrease(size);
      bytes += size;
      delete block;
    }
    unused_.clear();
    if (stats_.allocations.current == 0) {
      stats_ = {}; // the counters begin again with the next block
    }
    return bytes;
  }

  std::mutex mutex_;
  std::multimap<size_t, HostBlock*> unused_; // by size
  std::list<Pending> pending_;
  HostStats stats_;
  std::vector<HostBlock*> deferred_; // freed while a stream that uses them captured
};

CachingHostAllocatorImpl& blocks() {
  static auto* const it = new CachingHostAllocatorImpl; // never destroyed
  return *it;
}

void free_block(void* context) {
  blocks().free(static_cast<HostBlock*>(context));
}

struct PinnedMemoryAllocator final : Allocator {
  DataPtr allocate(size_t n) override {
    if (n == 0) {
      return {nullptr, nullptr, nullptr, Device(DeviceType::CPU)};
    }
    device_count_ensure_non_zero();
    HostBlock* block = blocks().allocate(n);
    TORCH_CHECK_WITH(OutOfMemoryError, block != nullptr, "cannot pin ", n, " bytes of host memory");
    return {block->data, block, free_block, Device(DeviceType::CPU)};
  }
  void copy_data(void* dest, const void* src, size_t count) const override {
    std::memcpy(dest, src, count);
  }
  size_t empty_cache() override {
    return blocks().empty();
  }
};

} // namespace

Allocator* getPinnedMemoryAllocator() {
  static auto* const allocator = new PinnedMemoryAllocator;
  return allocator;
}

// How many pieces of memory the program has registered. Without one, no question starts CUDA.
static std::atomic<int> registered_pieces{0};

bool is_pinned(const DataPtr& data_ptr) {
  if (data_ptr.get_deleter() == free_block) {
    return true;
  }
  if (registered_pieces == 0 || data_ptr.get() == nullptr) {
    return false;
  }
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data_ptr.get()) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

cudaError_t registerHostMemory(void* data, size_t bytes, unsigned flags) {
  const cudaError_t error = cudaHostRegister(data, bytes, flags);
  registered_pieces += error == cudaSuccess ? 1 : 0;
  return error;
}

cudaError_t unregisterHostMemory(void* data) {
  const cudaError_t error = cudaHostUnregister(data);
  registered_pieces -= error == cudaSuccess ? 1 : 0;
  return error;
}

HostStats CachingHostAllocator_getStats() {
  return blocks().stats();
}

void CachingHostAllocator_resetAccumulatedStats() {
  blocks().reset_accumulated();
}

void CachingHostAllocator_resetPeakStats() {
  blocks().reset_peak();
}

bool CachingHostAllocator_recordEvent(const DataPtr& data_ptr, CUDAStream stream) {
  if (data_ptr.get_deleter() != free_block) {
    return false;
  }
  blocks().record_stream(static_cast<HostBlock*>(data_ptr.get_context()), stream);
  return true;
}

void CachingHostAllocator_emptyCache() {
  getPinnedMemoryAllocator()->empty_cache();
}

} // namespace reftorch::c10::cuda
