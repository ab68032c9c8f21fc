// Mirrors: c10/util/SmallVector.h
//
// A vector whose first N elements are stored in the object itself, so that shapes, strides and argument stacks of usual
// size need no heap memory. Raises std::length_error for more elements than memory can hold, as std::vector does. Left
// out: the parts of LLVM's interface that the library does not call.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace reftorch::c10 {

[[noreturn]] inline void report_size_overflow(size_t requested, size_t largest) {
  throw std::length_error("SmallVector unable to grow. Requested capacity (" + std::to_string(requested) +
                          ") is larger than the largest that memory can hold (" + std::to_string(largest) + ")");
}

template <typename T, unsigned N>
class SmallVector final {
 public:
  using value_type = T;

  SmallVector() = default;
  explicit SmallVector(size_t count, const T& value = T()) {
    resize(count, value);
  }
  SmallVector(ArrayRef<T> values) {
    append(values.begin(), values.end());
  }
  SmallVector(std::initializer_list<T> values) {
    append(values.begin(), values.end());
  }
  template <typename It, typename = std::enable_if_t<!std::is_integral_v<It>>>
  SmallVector(It first, It last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) {
    append(other.begin(), other.end());
  }
  SmallVector(SmallVector&& other) noexcept {
    take(std::move(other));
  }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      clear();
      free_heap();
      take(std::move(other));
    }
    return *this;
  }
  ~SmallVector() {
    clear();
    free_heap();
  }

  T* data() {
    return begin_;
  }
  const T* data() const {
    return begin_;
  }
  size_t size() const {
    return size_;
  }
  bool empty() const {
    return size_ == 0;
  }
  T* begin() {
    return begin_;
  }
  T* end() {
    return begin_ + size_;
  }
  const T* begin() const {
    return begin_;
  }
  const T* end() const {
    return begin_ + size_;
  }
  T& operator[](size_t i) {
    check_bounds(i, size_);
    return begin_[i];
  }
  const T& operator[](size_t i) const {
    check_bounds(i, size_);
    return begin_[i];
  }
  T& front() {
    check_bounds(0, size_);
    return begin_[0];
  }
  const T& front() const {
    check_bounds(0, size_);
    return begin_[0];
  }
  T& back() {
    check_bounds(0, size_);
    return begin_[size_ - 1];
  }
  const T& back() const {
    check_bounds(0, size_);
    return begin_[size_ - 1];
  }

  void reserve(size_t capacity) {
    if (capacity > capacity_) {
      grow(capacity);
    }
  }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      // The arguments may refer to an element that grow() moves, so the new element is built first.
      T value(std::forward<Args>(args)...);
      grow(2 * capacity_);
      new (begin_ + size_) T(std::move(value));
    } else {
      new (begin_ + size_) T(std::forward<Args>(args)...);
    }
    return begin_[size_++];
  }
  void push_back(const T& value) {
    emplace_back(value);
  }
  void push_back(T&& value) {
    emplace_back(std::move(value));
  }
  void pop_back() {
    check_bounds(0, size_);
    begin_[--size_].~T();
  }
  // The range must not be a part of this vector.
  template <typename It>
  void append(It first, It last) {
    reserve(size_ + static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) {
      new (begin_ + size_++)
          T(*first); // not uninitialized_copy, because a call of memmove costs more than copying five numbers
    }
  }
  void resize(size_t count, const T& value = T()) {
    if (count <= size_) {
      std::destroy(begin_ + count, end());
      size_ = count;
      return;
    }
    reserve(count);
    while (size_ < count) {
      new (begin_ + size_++) T(value);
    }
  }
  void assign(size_t count, const T& value) {
    clear();
    resize(count, value);
  }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void insert(size_t pos, T value) {
    emplace_back(std::move(value));
    for (size_t i = size_ - 1; i > pos; i--) {
      std::swap(begin_[i], begin_[i - 1]);
    }
  }
  void erase(size_t pos) {
    for (size_t i = pos + 1; i < size_; i++) {
      begin_[i - 1] = std::move(begin_[i]);
    }
    pop_back();
  }

 private:
  T* inline_begin() {
    return reinterpret_cast<T*>(inline_storage_);
  }
  bool is_inline() const {
    return begin_ == reinterpret_cast<const T*>(inline_storage_);
  }
  void grow(size_t capacity) {
    constexpr size_t kLargest =
        std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T); // a larger capacity would overflow the number of bytes
    if (capacity > kLargest) {
      report_size_overflow(capacity, kLargest);
    }
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::uninitialized_move(begin(), end(), fresh);
    std::destroy(begin(), end());
    free_heap();
    begin_ = fresh;
    capacity_ = capacity;
  }
  void free_heap() {
    if (!is_inline()) {
      ::operator delete(begin_);
      begin_ = inline_begin();
      capacity_ = N;
    }
  }
  void take(SmallVector&& other) {
    if (other.is_inline()) {
      if constexpr (std::is_trivially_copyable_v<T>) {
        std::memcpy(inline_storage_, other.inline_storage_,
                    sizeof(inline_storage_)); // copies all N elements, which needs no call and no loop
      } else {
        std::uninitialized_move(other.begin(), other.end(), begin_);
      }
      size_ = other.size_;
      other.clear();
    } else {
      begin_ = other.begin_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.begin_ = other.inline_begin();
      other.size_ = 0;
      other.capacity_ = N;
    }
  }

  T* begin_ = inline_begin();
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_storage_[N * sizeof(T)];
};

template <typename T, unsigned N>
bool operator==(const SmallVector<T, N>& a, const SmallVector<T, N>& b) {
  return ArrayRef<T>(a) == ArrayRef<T>(b);
}

constexpr unsigned kDimVectorStaticSize = 5;
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;

} // namespace reftorch::c10
