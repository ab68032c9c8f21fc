// Mirrors: aten/src/ATen/native/Fill.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

#include <limits>

namespace reftorch::at::native {

template <typename T>
constexpr const char* cpp_type_name() {
  if constexpr (std::is_same_v<T, c10::Half>) {
    return "at::Half";
  } else if constexpr (std::is_same_v<T, c10::BFloat16>) {
    return "at::BFloat16";
  } else if constexpr (!std::is_integral_v<T>) {
    return std::is_same_v<T, float> ? "float" : "double";
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return "uint8_t";
  } else {
    return sizeof(T) == 1 ? "int8_t" : sizeof(T) == 2 ? "int16_t" : sizeof(T) == 4 ? "int" : "int64_t";
  }
}

// The number as a T. RuntimeError where T cannot hold it; an unsigned T takes negative numbers around the corner, so
// that 255 can be written as -1.
template <typename T>
T checked_convert(const Scalar& value) {
  if constexpr (!std::is_same_v<T, bool>) {
    using limit = std::numeric_limits<T>;
    const double number = value.toDouble(), largest = static_cast<double>(limit::max());
    const double smallest = limit::is_signed ? static_cast<double>(limit::lowest()) : -largest;
    // 2^63 is the double next to the largest int64, which has none of its own.
    const bool too_large =
        limit::is_integer && limit::digits > 53 && value.isFloatingPoint() ? number >= largest : number > largest;
    const bool special = !limit::is_integer && !std::isfinite(number); // floats have infinities and NaN of their own
    TORCH_CHECK(special || !(too_large || number < smallest || std::isnan(number)),
                "value cannot be converted to type ", cpp_type_name<T>(), " without overflow");
  }
  return value.to<T>();
}

using fill_fn = void (*)(TensorIterator& iter, const Scalar& value);
DECLARE_DISPATCH(fill_fn, fill_stub)

} // namespace reftorch::at::native
