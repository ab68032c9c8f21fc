// Mirrors: c10/util/SmallBuffer.h
//
// Memory for a kernel's own work, from the allocator that tensors come from. That allocator reuses its blocks, while a
// large std::vector takes fresh memory each time and fills it with zeros.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <type_traits>

namespace reftorch::at::native {

// Memory for n elements, whose values are undefined.
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
