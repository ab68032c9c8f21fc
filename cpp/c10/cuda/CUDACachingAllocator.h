// Mirrors: c10/cuda/CUDACachingAllocator.h
//
// The allocator of the CUDA devices. Notes [Freed memory and streams] and [Segments and blocks] say how the allocator
// works, Note [Private pools] how graphs get memory of their own. Left out: expandable segments, the backend
// cudaMallocAsync.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

namespace reftorch::c10::cuda::CUDACachingAllocator {

// How another process opens the memory at an address: by the handle of its segment, and the bytes before the address
// there.
struct ShareableHandle {
  ptrdiff_t offset;
  std::string handle;
};

using OutOfMemoryObserver = std::function<void(int64_t device, size_t asked, size_t total, size_t free_bytes)>;

// What torch.cuda asks of an allocator beyond the DeviceAllocator.
class C10_API CUDAAllocator : public DeviceAllocator {
 public:
  virtual std::string name() = 0;
  // Memory for a program that manages the memory itself: at least n bytes of a device, for a stream of this device.
  virtual void* raw_alloc_with_stream(size_t n, Stream stream) = 0;
  // Raises an Error if raw_alloc_with_stream has not returned `ptr`, or if `ptr` was deleted before.
  virtual void raw_delete(void* ptr) = 0;

  // While disabled, each tensor gets memory from cudaMalloc, and no freed memory is kept.
  virtual void enable(bool value) = 0;
  virtual bool isEnabled() = 0;

  // `ptr` is the memory of a tensor. Raises an Error if this allocator does not own it.
  virtual ShareableHandle shareIpcHandle(void* ptr) = 0;
  // Opens a segment of another process, which is closed with the last copy of the pointer.
  virtual std::shared_ptr<void> getIpcDevPtr(const std::string& handle) = 0;

  // The process gets at most this part of the memory of the device.
  virtual void setMemoryFraction(double fraction, DeviceIndex device) = 0;
  virtual double getMemoryFraction(DeviceIndex device) = 0;

  // The private pools of a device: see DeviceCachingAllocator.
  virtual void beginAllocateToPool(DeviceIndex device, MempoolId_t mempool_id, std::function<bool(Stream)> filter) = 0;
  virtual void endAllocateToPool(DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual void createOrIncrefPool(DeviceIndex device, MempoolId_t mempool_id, CUDAAllocator* allocator = nullptr) = 0;
  virtual void setUseOnOOM(DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual void setNoSplit(DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual bool checkPoolLiveAllocations(DeviceIndex device, MempoolId_t mempool_id,
                                        const std::unordered_set<void*>& expected) = 0;
  virtual void releasePool(DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual int getPoolUseCount(DeviceIndex device, MempoolId_t mempool_id) = 0;
  // Returns the unused memory of a pool that nobody uses any more to CUDA.
  virtual void emptyPool(DeviceIndex device, MempoolId_t mempool_id) = 0;

  // The segments of all devices, or those of one private pool.
  virtual CachingDeviceAllocator::SnapshotInfo snapshot(MempoolId_t mempool_id = {0, 0}) = 0;
  virtual void recordHistory(const CachingDeviceAllocator::HistoryOptions& options) = 0;
  virtual void setUserMetadata(const std::string& metadata) = 0;
  virtual std::string getUserMetadata() = 0;
  // Adds a function that is called before an OutOfMemoryError is raised, with the device, the bytes that were asked
  // for, all bytes of the device, and its free bytes.
  virtual void attachOutOfMemoryObserver(OutOfMemoryObserver observer) = 0;
};

// Returns the allocator. Its allocate() allocates on the current device, for the current stream of that device.
C10_API CUDAAllocator* get();
// Puts another allocator in the place of this one. Raises an Error if memory was allocated before.
C10_API void change(CUDAAllocator* allocator);
// Sets a function that is called before more memory is asked of a device; it says whether it has freed some. No lock of
// the allocator is held meanwhile.
C10_API void setFreeMemoryCallback(bool (*callback)());
// Returns the unused memory of all devices to CUDA.
C10_API void emptyCache();

} // namespace reftorch::c10::cuda::CUDACachingAllocator
