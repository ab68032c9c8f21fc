// Mirrors: c10/util/SmallBuffer.h
// Room for a kernel's own work, from the allocator that tensors come from: its blocks are warm, while a large
// std::vector is fresh memory each time, filled with zeros first.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <type_traits>

namespace reftorch::at::native {

// n elements with no value yet.
template <typename T>
class Scratch final {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit Scratch(int64_t n) : data_(c10::GetCPUAllocator()->allocate(n * sizeof(T))), size_(n) {}

  T* begin() {
    return static_cast<T*>(data_.get());
  }
  T* end() {
    return begin() + size_;
  }
  T& operator[](int64_t i) {
    return begin()[i];
  }

 private:
  c10::DataPtr data_;
  int64_t size_;
};

} // namespace reftorch::at::native
