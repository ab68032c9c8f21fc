// Mirrors: aten/src/ATen/cuda/MemPool.h
//
// A private pool of memory that belongs to the program: see Note [Private pools].
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

namespace reftorch::at::cuda {

// Makes the pool on the current device and releases it at the end. `allocator` serves the pool's segments, null means
// the device; with use_on_oom, unused memory of the pool serves other requests when the device is full; with no_split,
// each request gets a segment of its own.
class TORCH_API MemPool final {
 public:
  using CUDAAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

  explicit MemPool(CUDAAllocator* allocator = nullptr, bool is_user_created = true, bool use_on_oom = false,
                   bool no_split = false);
  ~MemPool();
  MemPool(const MemPool&) = delete;
  MemPool& operator=(const MemPool&) = delete;

  MempoolId_t id() const {
    return id_;
  }
  c10::DeviceIndex device() const {
    return device_;
  }
  // Returns how many owners the pool has: this object, graphs, and scopes that allocate from it now.
  int use_count() const;

 private:
  const MempoolId_t id_;
  const c10::DeviceIndex device_;
};

} // namespace reftorch::at::cuda
