// Mirrors: c10/cuda/CUDACachingAllocator.cpp (NativeCachingAllocator)
#include <c10/cuda/CUDACachingAllocator.h>

#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/BlockAnnouncement.h>
#include <c10/cuda/CUDADevice.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace reftorch::c10::cuda::CUDACachingAllocator {
namespace {

using namespace reftorch::c10::CachingDeviceAllocator;
using CachingAllocator::AcceleratorAllocatorConfig;

DeviceCachingAllocator& memory_of(DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "Invalid device argument ", static_cast<int>(device),
              ": did you call init?");
  return CUDADevice::get(device).memory();
}

void free_block(void* context) {
  Block* block = static_cast<Block*>(context);
  announce_freed_block(block->ptr, block->stream, !block->stream_uses.empty());
  memory_of(block->stream.device_index()).free(block);
}

void free_uncached(void* data) {
  C10_CUDA_IGNORE_ERROR(cudaFree(data));
}

std::string format_size(size_t bytes) {
  char text[32];
  const double size = static_cast<double>(bytes);
  if (bytes <= 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else if (bytes <= size_t(1) << 20) {
    std::snprintf(text, sizeof text, "%.2f KiB", size / 1024);
  } else if (bytes <= size_t(1) << 30) {
    std::snprintf(text, sizeof text, "%.2f MiB", size / (1 << 20));
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", size / (1 << 30));
  }
  return text;
}

// The beginning of a handle, as in PyTorch; then follows CUDA's own handle.
constexpr char SHAREABLE_HANDLE_VERSION = 2, SHAREABLE_CUDA_MALLOC = 'c';

struct Observers {
  std::mutex mutex;
  std::vector<OutOfMemoryObserver> all;
};
Observers& observers() {
  static auto* const it = new Observers; // never destroyed: memory is freed while the program ends
  return *it;
}

[[noreturn]] void report_out_of_memory(const OutOfMemory& why, DeviceIndex device) {
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  std::vector<OutOfMemoryObserver> called;
  {
    std::lock_guard<std::mutex> lock(observers().mutex);
    called = observers().all;
  }
  for (const OutOfMemoryObserver& observer : called) {
    observer(device, why.segment_size, total, free_bytes);
  }
  const size_t unused = why.reserved_bytes - why.allocated_bytes;
  const std::string allowed =
      why.allowed_memory_maximum == 0 ? "" : format_size(why.allowed_memory_maximum) + " allowed; ";
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", format_size(why.segment_size),
                   ". GPU ", static_cast<int>(device), " has a total capacity of ", format_size(total), " of which ",
                   format_size(free_bytes), " is free. ", allowed, "Of the allocated memory ",
                   format_size(why.allocated_bytes), " is allocated by PyTorch, and ", format_size(unused),
                   " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
                   "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 to avoid fragmentation. "
                   "torch.cuda.memory_summary() shows where the memory is.");
  std::abort(); // the check above throws
}

// The total memory of a device, in bytes.
size_t capacity(DeviceIndex device) {
  return CUDADevice::get(device).properties().totalGlobalMem;
}

class NativeCachingAllocator final : public CUDAAllocator {
 public:
  DataPtr allocate(size_t n) override {
    constexpr size_t kOneExabyte = size_t(1) << 60;
    TORCH_CHECK_WITH(OutOfMemoryError, n < kOneExabyte, "CUDA out of memory. Tried to allocate more than 1EB memory.");
    const DeviceIndex device = current_device();
    const Device place(DeviceType::CUDA, device);
    if (n == 0) {
      return {nullptr, nullptr, nullptr, place};
    }
    if (!enabled_) {
      void* data = nullptr;
      C10_CUDA_CHECK(cudaMalloc(&data, n));
      return {data, data, free_uncached, place};
    }
    Block* block = block_of(n, getCurrentCUDAStream(device));
    return {block->ptr, block, free_block, place};
  }
  void copy_data(void* dest, const void* src, size_t count) const override {
    C10_CUDA_CHECK(cudaMemcpyAsync(dest, src, count, cudaMemcpyDeviceToDevice, getCurrentCUDAStream()));
  }
  // Does nothing for memory that this allocator does not own. A tensor that was sent to another process has a deleter
  // of its own.
  void recordStream(const DataPtr& ptr, Stream stream) override {
    if (ptr.get_deleter() == free_block) {
      Block* block = static_cast<Block*>(ptr.get_context());
      memory_of(block->stream.device_index()).recordStream(block, stream);
    } else if (ptr.get() != nullptr) {
      memory_of(ptr.device().index()).recordStream(ptr.get(), stream);
    }
  }
  DeviceStats getDeviceStats(DeviceIndex device) override {
    return memory_of(device).getStats();
  }
  void resetAccumulatedStats(DeviceIndex device) override {
    memory_of(device).resetAccumulatedStats();
  }
  void resetPeakStats(DeviceIndex device) override {
    memory_of(device).resetPeakStats();
  }
  size_t empty_cache() override {
    size_t bytes = 0;
    for (DeviceIndex i = 0; i < device_count(); i++) {
      bytes += memory_of(i).emptyCache();
    }
    return bytes;
  }

  std::string name() override {
    return "native";
  }
  void* raw_alloc_with_stream(size_t n, Stream stream) override {
    if (n == 0) {
      return nullptr;
    }
    const CUDAGuard guard(stream.device_index());
    if (!enabled_) {
      void* data = nullptr;
      C10_CUDA_CHECK(cudaMalloc(&data, n));
      std::lock_guard<std::mutex> lock(mutex_);
      raw_[data] = nullptr;
      return data;
    }
    Block* block = block_of(n, stream);
    std::lock_guard<std::mutex> lock(mutex_);
    raw_[block->ptr] = block;
    return block->ptr;
  }
  void raw_delete(void* ptr) override {
    if (ptr == nullptr) {
      return;
    }
    Block* block = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = raw_.find(ptr);
      TORCH_CHECK(found != raw_.end(), "invalid device pointer: ", ptr);
      block = found->second;
      raw_.erase(found);
    }
    if (block == nullptr) { // it was allocated while the cache was off
      free_uncached(ptr);
      return;
    }
    free_block(block);
  }
  void enable(bool value) override {
    enabled_ = value;
  }
  bool isEnabled() override {
    return enabled_;
  }
  ShareableHandle shareIpcHandle(void* ptr) override {
    for (DeviceIndex i = 0; i < device_count(); i++) {
      if (char* segment = memory_of(i).segment_of(ptr)) {
        const CUDAGuard guard(i);
        cudaIpcMemHandle_t handle = {};
        C10_CUDA_CHECK(cudaIpcGetMemHandle(&handle, segment));
        return {static_cast<char*>(ptr) - segment,
                std::string{SHAREABLE_HANDLE_VERSION, SHAREABLE_CUDA_MALLOC} +
                    std::string(reinterpret_cast<const char*>(&handle), sizeof handle)};
      }
    }
    TORCH_CHECK(false, "invalid device pointer: ", ptr);
    std::abort(); // the check above throws
  }
  std::shared_ptr<void> getIpcDevPtr(const std::string& bytes) override {
    cudaIpcMemHandle_t handle = {};
    TORCH_CHECK(
        bytes.size() == 2 + sizeof handle && bytes[0] == SHAREABLE_HANDLE_VERSION && bytes[1] == SHAREABLE_CUDA_MALLOC,
        "expected the handle of memory of another process, got ", bytes.size(), " bytes");
    std::memcpy(&handle, bytes.data() + 2, sizeof handle);
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::shared_ptr<void> opened = opened_[bytes].lock()) {
      return opened;
    }
    void* segment = nullptr;
    C10_CUDA_CHECK(cudaIpcOpenMemHandle(&segment, handle, cudaIpcMemLazyEnablePeerAccess));
    announce_opened_segment(segment);
    std::shared_ptr<void> opened(segment, [this, bytes](void* p) { close(p, bytes); });
    opened_[bytes] = opened;
    return opened;
  }
  void setMemoryFraction(double fraction, DeviceIndex device) override {
    TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction:", fraction, ". Please set within [0, 1].");
    DeviceCachingAllocator& memory = memory_of(device);
    std::lock_guard<std::mutex> lock(mutex_);
    fractions_[device] = fraction;
    // A limit of 0 would mean "no limit", so the smallest limit is one byte, which allows no segment.
    memory.setAllowedMemoryMaximum(
        std::max<size_t>(1, static_cast<size_t>(fraction * static_cast<double>(capacity(device)))));
  }
  double getMemoryFraction(DeviceIndex device) override {
    TORCH_CHECK(device >= 0 && device < device_count(), "Invalid device argument ", static_cast<int>(device));
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = fractions_.find(device);
    return found != fractions_.end() ? found->second : AcceleratorAllocatorConfig::per_process_memory_fraction();
  }
  void beginAllocateToPool(DeviceIndex device, MempoolId_t mempool_id, std::function<bool(Stream)> filter) override {
    memory_of(device).beginAllocateToPool(mempool_id, std::move(filter));
  }
  void endAllocateToPool(DeviceIndex device, MempoolId_t mempool_id) override {
    memory_of(device).endAllocateToPool(mempool_id);
  }
  void createOrIncrefPool(DeviceIndex device, MempoolId_t mempool_id, CUDAAllocator* allocator) override {
    memory_of(device).createOrIncrefPool(mempool_id, allocator);
  }
  void setUseOnOOM(DeviceIndex device, MempoolId_t mempool_id) override {
    memory_of(device).setUseOnOOM(mempool_id);
  }
  void setNoSplit(DeviceIndex device, MempoolId_t mempool_id) override {
    memory_of(device).setNoSplit(mempool_id);
  }
  bool checkPoolLiveAllocations(DeviceIndex device, MempoolId_t mempool_id,
                                const std::unordered_set<void*>& expected) override {
    return memory_of(device).checkPoolLiveAllocations(mempool_id, expected);
  }
  void releasePool(DeviceIndex device, MempoolId_t mempool_id) override {
    memory_of(device).releasePool(mempool_id);
  }
  int getPoolUseCount(DeviceIndex device, MempoolId_t mempool_id) override {
    return memory_of(device).getPoolUseCount(mempool_id);
  }
  void emptyPool(DeviceIndex device, MempoolId_t mempool_id) override {
    memory_of(device).emptyCache(mempool_id);
  }
  SnapshotInfo snapshot(MempoolId_t mempool_id) override {
    SnapshotInfo result;
    for (DeviceIndex i = 0; i < device_count(); i++) {
      result.device_traces.push_back(memory_of(i).trace()); // without this snapshot
      auto segments = memory_of(i).snapshot(mempool_id);
      result.segments.insert(result.segments.end(), segments.begin(), segments.end());
    }
    return result;
  }
  void recordHistory(const HistoryOptions& options) override {
    for (DeviceIndex i = 0; i < device_count(); i++) {
      memory_of(i).recordHistory(options);
    }
  }
  void setUserMetadata(const std::string& metadata) override {
    for (DeviceIndex i = 0; i < device_count(); i++) {
      memory_of(i).setUserMetadata(metadata);
    }
  }
  std::string getUserMetadata() override {
    return device_count() == 0 ? "" : memory_of(0).getUserMetadata();
  }
  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override {
    std::lock_guard<std::mutex> lock(observers().mutex);
    observers().all.push_back(std::move(observer));
  }

 private:
  // Nobody uses the segment of another process any more.
  void close(void* segment, const std::string& handle) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = opened_.find(handle);
      if (found != opened_.end() && found->second.expired()) { // otherwise it was opened again
        opened_.erase(found);
      }
    }
    C10_CUDA_IGNORE_ERROR(cudaIpcCloseMemHandle(segment));
  }

  // Returns a block of at least n bytes. The stream's device is current.
  Block* block_of(size_t n, Stream stream) {
    const double fraction = AcceleratorAllocatorConfig::per_process_memory_fraction();
    if (fraction < 1 && memory_of(stream.device_index()).allowedMemoryMaximum() == 0) {
      setMemoryFraction(fraction, stream.device_index());
    }
    OutOfMemory why{};
    Block* block = memory_of(stream.device_index()).allocate(n, block_padding(), stream, why);
    if (block == nullptr) {
      report_out_of_memory(why, stream.device_index());
    }
    announce_allocated_block(block->ptr, n);
    return block;
  }

  std::atomic<bool> enabled_{true};
  std::mutex mutex_;
  std::unordered_map<void*, Block*> raw_;             // what raw_alloc_with_stream returned; null: memory of cudaMalloc
  std::unordered_map<DeviceIndex, double> fractions_; // what setMemoryFraction has set
  std::unordered_map<std::string, std::weak_ptr<void>> opened_; // the segments of other processes, by their handles
};

CUDAAllocator*& chosen() {
  static CUDAAllocator* it = new NativeCachingAllocator; // never destroyed: memory is freed while the program ends
  return it;
}

struct RegisterAllocator {
  RegisterAllocator() {
    SetAllocator(DeviceType::CUDA, get());
  }
};
const RegisterAllocator register_allocator;

} // namespace

CUDAAllocator* get() {
  return chosen();
}

void change(CUDAAllocator* allocator) {
  for (DeviceIndex i = 0; i < device_count(); i++) {
    TORCH_CHECK(memory_of(i).getStats().num_device_alloc == 0, "Can't swap an already initialized allocator");
  }
  chosen() = allocator;
  SetAllocator(DeviceType::CUDA, allocator);
}

void setFreeMemoryCallback(bool (*callback)()) {
  DeviceCachingAllocator::free_memory_callback = callback;
}

void emptyCache() {
  get()->empty_cache();
}

} // namespace reftorch::c10::cuda::CUDACachingAllocator
