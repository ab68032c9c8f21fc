// Mirrors: c10/util/ArrayRef.h
//
// A pointer and a length that borrow an array. An ArrayRef never owns its elements, so do not keep one after the call
// that received it has returned.
#pragma once

#include <c10/util/bounds.h>

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace reftorch::c10 {

template <typename T>
class ArrayRef final {
 public:
  using value_type = T;
  using iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t length) : data_(data), length_(length) {}
  constexpr ArrayRef(const T& one) : data_(&one), length_(1) {}
  ArrayRef(const std::vector<T>& vec) : data_(vec.data()), length_(vec.size()) {}
  // This ArrayRef is valid only until the end of the full expression that contains the list. gcc warns about that.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), length_(list.size()) {}
#pragma GCC diagnostic pop
  template <typename Container, typename = decltype(static_cast<const T*>(std::declval<const Container&>().data()))>
  ArrayRef(const Container& c) : data_(c.data()), length_(c.size()) {}

  const T* begin() const {
    return data_;
  }
  const T* end() const {
    return data_ + length_;
  }
  const T* data() const {
    return data_;
  }
  size_t size() const {
    return length_;
  }
  bool empty() const {
    return length_ == 0;
  }
  const T& operator[](size_t i) const {
    check_bounds(i, length_);
    return data_[i];
  }
  const T& front() const {
    check_bounds(0, length_);
    return data_[0];
  }
  const T& back() const {
    check_bounds(0, length_);
    return data_[length_ - 1];
  }
  ArrayRef slice(size_t start, size_t count) const {
    check_bounds(start + count, length_ + 1);
    return ArrayRef(data_ + start, count);
  }
  std::vector<T> vec() const {
    return std::vector<T>(begin(), end());
  }

 private:
  const T* data_ = nullptr;
  size_t length_ = 0;
};

template <typename T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); i++) {
    if (!(a[i] == b[i])) {
      return false;
    }
  }
  return true;
}
template <typename T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !(a == b);
}

template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << "[";
  for (size_t i = 0; i < list.size(); i++) {
    out << (i == 0 ? "" : ", ") << list[i];
  }
  return out << "]";
}

using IntArrayRef = ArrayRef<int64_t>;

} // namespace reftorch::c10
