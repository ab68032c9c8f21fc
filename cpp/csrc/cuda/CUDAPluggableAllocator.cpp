// Mirrors: torch/csrc/cuda/CUDAPluggableAllocator.cpp
#include <csrc/cuda/CUDAPluggableAllocator.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace reftorch::torch::cuda {
namespace {

using namespace c10::CachingDeviceAllocator;

// What the function that frees must be told.
struct Allocation {
  void* ptr;
  size_t size;
  int device;
  cudaStream_t stream;
  FreeFn free_fn;
};

void free_allocation(void* context) {
  const std::unique_ptr<Allocation> allocation(static_cast<Allocation*>(context));
  allocation->free_fn(allocation->ptr, static_cast<ssize_t>(allocation->size), allocation->device, allocation->stream);
}

class CUDAPluggableAllocator final : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  CUDAPluggableAllocator(AllocFn alloc_fn, FreeFn free_fn) : alloc_fn_(alloc_fn), free_fn_(free_fn) {}

  c10::DataPtr allocate(size_t n) override {
    const c10::DeviceIndex device = c10::cuda::current_device();
    const c10::Device place(c10::DeviceType::CUDA, device);
    if (n == 0) {
      return {nullptr, nullptr, nullptr, place};
    }
    Allocation* allocation = allocate_on(n, c10::cuda::getCurrentCUDAStream(device));
    return {allocation->ptr, allocation, free_allocation, place};
  }
  void copy_data(void* dest, const void* src, size_t count) const override {
    C10_CUDA_CHECK(
        cudaMemcpyAsync(dest, src, count, cudaMemcpyDeviceToDevice, c10::cuda::getCurrentCUDAStream().stream()));
  }
  // The library decides when it reuses memory, so the library must also know which other streams use the memory.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  std::string name() override {
    return "pluggable";
  }
  void* raw_alloc_with_stream(size_t n, c10::Stream stream) override {
    const c10::cuda::CUDAGuard guard(stream.device_index());
    Allocation* allocation = allocate_on(n, c10::cuda::CUDAStream(stream));
    std::lock_guard<std::mutex> lock(mutex_);
    raw_[allocation->ptr] = allocation;
    return allocation->ptr;
  }
  void raw_delete(void* ptr) override {
    Allocation* allocation = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = raw_.find(ptr);
      TORCH_CHECK(found != raw_.end(), "Trying to free a pointer not allocated here");
      allocation = found->second;
      raw_.erase(found);
    }
    free_allocation(allocation);
  }

  DeviceStats getDeviceStats(c10::DeviceIndex) override {
    refuse("getDeviceStats");
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {
    refuse("resetAccumulatedStats");
  }
  void resetPeakStats(c10::DeviceIndex) override {
    refuse("resetPeakStats");
  }
  void enable(bool) override {}
  bool isEnabled() override {
    return true;
  }
  c10::cuda::CUDACachingAllocator::ShareableHandle shareIpcHandle(void*) override {
    refuse("shareIpcHandle");
  }
  std::shared_ptr<void> getIpcDevPtr(const std::string&) override {
    refuse("getIpcDevPtr");
  }
  void setMemoryFraction(double, c10::DeviceIndex) override {
    refuse("setMemoryFraction");
  }
  double getMemoryFraction(c10::DeviceIndex) override {
    refuse("getMemoryFraction");
  }
  void beginAllocateToPool(c10::DeviceIndex, c10::MempoolId_t, std::function<bool(c10::Stream)>) override {
    refuse("beginAllocateToPool");
  }
  void endAllocateToPool(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("endAllocateToPool");
  }
  void createOrIncrefPool(c10::DeviceIndex, c10::MempoolId_t, CUDAAllocator*) override {
    refuse("createOrIncrefPool");
  }
  void releasePool(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("releasePool");
  }
  int getPoolUseCount(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("getPoolUseCount");
  }
  void emptyPool(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("emptyPool");
  }
  SnapshotInfo snapshot(c10::MempoolId_t) override {
    refuse("snapshot");
  }
  void recordHistory(const HistoryOptions&) override {
    refuse("recordHistory");
  }
  void setUseOnOOM(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("setUseOnOOM");
  }
  void setNoSplit(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("setNoSplit");
  }
  bool checkPoolLiveAllocations(c10::DeviceIndex, c10::MempoolId_t, const std::unordered_set<void*>&) override {
    refuse("checkPoolLiveAllocations");
  }
  void setUserMetadata(const std::string&) override {
    refuse("setUserMetadata");
  }
  std::string getUserMetadata() override {
    refuse("getUserMetadata");
  }
  void attachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver) override {
    refuse("attachOutOfMemoryObserver");
  }

 private:
  Allocation* allocate_on(size_t n, c10::cuda::CUDAStream stream) {
    const int device = stream.device_index();
    void* ptr = alloc_fn_(static_cast<ssize_t>(n), device, stream.stream());
    TORCH_CHECK_WITH(OutOfMemoryError, ptr != nullptr, "the allocator of the program returned no memory for ", n,
                     " bytes on GPU ", device);
    return new Allocation{ptr, n, device, stream.stream(), free_fn_};
  }
  [[noreturn]] static void refuse(const char* what) {
    TORCH_CHECK(false, "CUDAPluggableAllocator does not yet support ", what,
                ". Only the caching allocator of the library counts and records what it does.");
    std::abort(); // the check above throws
  }

  const AllocFn alloc_fn_;
  const FreeFn free_fn_;
  std::mutex mutex_;
  std::unordered_map<void*, Allocation*> raw_; // what raw_alloc_with_stream returned
};

} // namespace

c10::cuda::CUDACachingAllocator::CUDAAllocator* createCustomAllocator(AllocFn alloc_fn, FreeFn free_fn) {
  return new CUDAPluggableAllocator(alloc_fn, free_fn);
}

} // namespace reftorch::torch::cuda
