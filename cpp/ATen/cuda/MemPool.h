// Mirrors: aten/src/ATen/cuda/MemPool.h
//
// A private pool of memory that belongs to the program: see Note [Private pools]. Left out: pools with an allocator of
// their own, and pools that serve requests when the device is full.
#pragma once

#include <ATen/cuda/CUDAGraph.h>

namespace reftorch::at::cuda {

// Makes the pool on the current device and releases it at the end.
class TORCH_API MemPool final {
 public:
  explicit MemPool(bool is_user_created = true);
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
