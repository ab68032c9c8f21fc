// Mirrors: c10/core/Allocator.h
//
// The contract of an allocator, and a pointer that knows how to give its memory back.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/Device.h>

#include <cstddef>
#include <utility>

namespace reftorch::c10 {

using DeleterFnPtr = void (*)(void* context);

// A DataPtr owns memory: `deleter(context)` runs once, when the DataPtr is destroyed. `context` need not be `data`: it
// may be the array of numpy that owns the memory.
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
  // Returns at least n bytes, 64-byte aligned, on the current device of the allocator's type; contents undefined. n ==
  // 0 gives a null pointer. Any thread may call it, and any thread may free the memory. Throws OutOfMemoryError naming
  // the size.
  virtual DataPtr allocate(size_t n) = 0;
  // Copies between two blocks of this allocator's memory that do not overlap. On a device with streams the copy is
  // enqueued on the current stream.
  virtual void copy_data(void* dest, const void* src, size_t count) const = 0;
  // Gives cached memory back to the system; returns how many bytes.
  virtual size_t empty_cache() {
    return 0;
  }
};

// RuntimeError where no allocator for such devices was set.
C10_API Allocator* GetAllocator(DeviceType t);
C10_API void SetAllocator(DeviceType t, Allocator* allocator);

} // namespace reftorch::c10
