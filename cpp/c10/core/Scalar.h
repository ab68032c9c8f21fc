// Mirrors: c10/core/Scalar.h
//
// A number from Python (int, float or bool) before it has a dtype. Left out: complex and symbolic numbers.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

namespace reftorch::c10 {

class Scalar final {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Scalar(T value) : tag_(Tag::Int) {
    payload_.i = static_cast<int64_t>(value);
    if constexpr (std::is_same_v<T, uint64_t>) {
      tag_ = payload_.i < 0 ? Tag::UInt : Tag::Int;
    }
  }
  Scalar(double value) : tag_(Tag::Double) {
    payload_.d = value;
  }
  Scalar(float value) : Scalar(double(value)) {}
  Scalar(Half value) : Scalar(double(float(value))) {}
  Scalar(BFloat16 value) : Scalar(double(float(value))) {}
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  Scalar(T value) : tag_(Tag::Bool) {
    payload_.i = value;
  }

  bool isFloatingPoint() const {
    return tag_ == Tag::Double;
  }
  bool isIntegral(bool includeBool) const {
    return tag_ == Tag::Int || tag_ == Tag::UInt || (includeBool && tag_ == Tag::Bool);
  }
  bool isBoolean() const {
    return tag_ == Tag::Bool;
  }
  // Whether the number is an integer between 2^63 and 2^64 - 1, which int64 cannot hold.
  bool isUnsigned() const {
    return tag_ == Tag::UInt;
  }
  // The dtype of the number in type promotion and as a 0-dim tensor: Double, Long, UInt64 or Bool.
  ScalarType type() const {
    return tag_ == Tag::Double ? kDouble : tag_ == Tag::Int ? kLong : tag_ == Tag::UInt ? kUInt64 : kBool;
  }

  // Converts the number to T. Raises RuntimeError if T cannot hold it: see overflows().
  template <typename T>
  T to() const {
    TORCH_CHECK(!overflows<T>(), "value cannot be converted to type ", cpp_type_name<T>(), " without overflow");
    return wrapped_to<T>();
  }
  // Converts the number as a cast of a tensor does: an integer that does not fit keeps its low bits.
  template <typename T>
  T wrapped_to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return tag_ == Tag::Double ? payload_.d != 0 : payload_.i != 0;
    } else {
      return tag_ == Tag::Double ? convert<T>(payload_.d)
             : tag_ == Tag::UInt ? convert<T>(static_cast<uint64_t>(payload_.i))
                                 : convert<T>(payload_.i);
    }
  }
  double toDouble() const {
    return to<double>();
  }
  int64_t toLong() const {
    return to<int64_t>();
  }
  bool toBool() const {
    return to<bool>();
  }
  bool equal(double value) const {
    return toDouble() == value;
  }
  Scalar operator-() const {
    TORCH_CHECK(!isBoolean(), "torch boolean negative, the `-` operator, is not supported.");
    return isFloatingPoint() ? Scalar(-payload_.d) : Scalar(-payload_.i);
  }

 private:
  // Whether T cannot hold the number. A float type holds infinity and NaN, and overflows only for finite numbers larger
  // than its largest. An unsigned integer type also takes negative integers down to minus its largest, so that 255 can
  // be written as -1; it does not take negative floats.
  template <typename T>
  bool overflows() const {
    using limit = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
      return false;
    } else if constexpr (!std::is_integral_v<T>) {
      const double value = wrapped_to<double>();
      return std::isfinite(value) && std::abs(value) > double(float(limit::max()));
    } else if (tag_ == Tag::UInt) {
      return true;
    } else if (tag_ == Tag::Double) {
      // The comparison is made in double. The double next to the largest int64 is 2^63, which is already too large.
      const double largest = static_cast<double>(limit::max());
      const double smallest = static_cast<double>(limit::lowest());
      const bool fits = sizeof(T) == sizeof(int64_t) ? payload_.d < largest : payload_.d <= largest;
      return !(fits && payload_.d >= smallest);
    } else {
      constexpr int64_t largest = limit::max(), smallest = limit::is_signed ? int64_t(limit::lowest()) : -largest;
      return payload_.i > largest || payload_.i < smallest;
    }
  }

  template <typename T>
  static constexpr const char* cpp_type_name() {
    if constexpr (std::is_same_v<T, Half>) {
      return "c10::Half";
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      return "c10::BFloat16";
    } else if constexpr (!std::is_integral_v<T>) {
      return "float";
    } else if constexpr (std::is_same_v<T, uint8_t>) {
      return "uint8_t";
    } else {
      return sizeof(T) == 1 ? "int8_t" : sizeof(T) == 2 ? "int16_t" : sizeof(T) == 4 ? "int" : "int64_t";
    }
  }

  // Half and BFloat16 are converted by way of float, because that is their only constructor from a number.
  template <typename T, typename From>
  static T convert(From value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(static_cast<float>(value));
    } else {
      return static_cast<T>(value);
    }
  }

  enum class Tag : int8_t { Double, Int, UInt, Bool };
  Tag tag_;
  union {
    double d;
    int64_t i; // for UInt, the bits of the uint64
  } payload_;
};

inline std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.isFloatingPoint()) {
    return out << s.toDouble();
  }
  if (s.isUnsigned()) {
    return out << s.wrapped_to<uint64_t>();
  }
  return s.isBoolean() ? out << (s.toBool() ? "True" : "False") : out << s.toLong();
}

} // namespace reftorch::c10
