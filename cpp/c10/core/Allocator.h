// Mirrors: c10/core/Allocator.h
//
// Allocator is the interface of the allocators, one for each type of device. DataPtr owns a block of memory and frees
// the block when it is destroyed.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/Device.h>

#include <cstddef>
#include <utility>

namespace reftorch::c10 {

using DeleterFnPtr = void (*)(void* context);

// A DataPtr owns memory: it calls `deleter(context)` once, when it is destroyed. `context` and `data` may differ: for
// memory that belongs to a numpy array, `context` is the array and `data` points into it.
class DataPtr final {
 public:
  DataPtr() = default;
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device)
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept {
    *this = std::move(other);
  }
  DataPtr& operator=(DataPtr&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(context_, other.context_);
    std::swap(deleter_, other.deleter_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DataPtr() {
    if (deleter_ != nullptr) {
      deleter_(context_);
    }
  }

  void* get() const {
    return data_;
  }
  void* get_context() const {
    return context_;
  }
  Device device() const {
    return device_;
  }
  DeleterFnPtr get_deleter() const {
    return deleter_;
  }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFnPtr deleter_ = nullptr;
  Device device_;
};

class C10_API Allocator {
 public:
  virtual ~Allocator() = default;
  // Returns at least n bytes, aligned to 64 bytes, on the current device of the allocator's type. The contents are
  // undefined. If n is 0, the pointer is null. Any thread may call this function, and any thread may free the memory.
  // If there is no memory left, raises an Error that names the size: OutOfMemoryError on CUDA, RuntimeError on the CPU,
  // as in PyTorch.
  virtual DataPtr allocate(size_t n) = 0;
  // Copies `count` bytes between two blocks of this allocator's memory, which must not overlap. On a device with
  // streams, enqueues the copy on the current stream.
  virtual void copy_data(void* dest, const void* src, size_t count) const = 0;
  // Frees the memory that the allocator keeps for later requests. Returns the number of bytes.
  virtual size_t empty_cache() {
    return 0;
  }
};

// Returns the allocator of a type of device. Raises RuntimeError if none was set.
C10_API Allocator* GetAllocator(DeviceType t);
C10_API void SetAllocator(DeviceType t, Allocator* allocator);

} // namespace reftorch::c10
