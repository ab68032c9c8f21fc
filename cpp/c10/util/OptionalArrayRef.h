// Mirrors: c10/util/OptionalArrayRef.h
//
// A parameter that takes a list or nothing: x.sum(0), x.sum({0, 1}), x.sum(c10::nullopt). A std::optional<IntArrayRef>
// that is made from a number would keep the address of a temporary that is gone when the function begins; here the
// temporary lives until the call has returned.
#pragma once

#include <c10/util/ArrayRef.h>

#include <optional>

namespace reftorch::c10 {

template <typename T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(const T& one) : list_(ArrayRef<T>(one)) {}
  OptionalArrayRef(const std::initializer_list<T>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : list_(list) {}
  // Anything of which an ArrayRef can be made: a vector, a SmallVector, another ArrayRef.
  template <typename Container, typename = decltype(static_cast<const T*>(std::declval<const Container&>().data()))>
  OptionalArrayRef(const Container& list) : list_(ArrayRef<T>(list)) {}

  operator const std::optional<ArrayRef<T>>&() const {
    return list_;
  }
  bool has_value() const {
    return list_.has_value();
  }
  const ArrayRef<T>& operator*() const {
    return *list_;
  }

 private:
  std::optional<ArrayRef<T>> list_;
};

using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

} // namespace reftorch::c10
