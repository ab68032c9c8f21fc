// Mirrors: aten/src/ATen/cuda/CachingHostAllocator.cpp, aten/src/ATen/cuda/PinnedMemoryAllocator.h
#include <c10/cuda/CachingHostAllocator.h>

#include <c10/core/AllocatorConfig.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace reftorch::c10::cuda {
namespace {

using CachingAllocator::kMinBlockSize;

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
// The blocks are neither split nor merged: a block is reused only for requests of more than half its size. A stream
// that captures cannot say when it has used a block, because each replay uses the block again. So a block that is freed
// during the capture waits for the end of the capture; the program keeps a block that a replay needs.
class CachingHostAllocatorImpl {
 public:
  HostBlock* allocate(size_t request) {
    const size_t size = (request + kMinBlockSize - 1) / kMinBlockSize * kMinBlockSize;
    std::lock_guard<std::mutex> lock(mutex_);
    collect_pending();
    const auto fitting = unused_.lower_bound(size);
    if (fitting != unused_.end() && fitting->first < 2 * size) {
      HostBlock* block = fitting->second;
      unused_.erase(fitting);
      return block;
    }
    void* data = get_pinned_memory(size);
    if (data == nullptr) {
      empty_locked();
      data = get_pinned_memory(size);
    }
    return data == nullptr ? nullptr : new HostBlock{data, size, {}};
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

 private:
  struct Pending { // a freed block that streams still use
    HostBlock* block;
    std::vector<Event> events;
  };

  void free_locked(HostBlock* block) {
    if (block->used_on.empty()) {
      unused_.emplace(block->size, block);
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
        unused_.emplace(it->block->size, it->block);
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
      give_pinned_memory_back(block->data);
      bytes += size;
      delete block;
    }
    unused_.clear();
    return bytes;
  }

  std::mutex mutex_;
  std::multimap<size_t, HostBlock*> unused_; // by size
  std::list<Pending> pending_;
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

bool is_pinned(const DataPtr& data_ptr) {
  return data_ptr.get_deleter() == free_block;
}

bool CachingHostAllocator_recordEvent(const DataPtr& data_ptr, CUDAStream stream) {
  if (!is_pinned(data_ptr)) {
    return false;
  }
  blocks().record_stream(static_cast<HostBlock*>(data_ptr.get_context()), stream);
  return true;
}

void CachingHostAllocator_emptyCache() {
  getPinnedMemoryAllocator()->empty_cache();
}

} // namespace reftorch::c10::cuda
