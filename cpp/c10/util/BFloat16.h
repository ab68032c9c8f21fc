// Mirrors: c10/util/BFloat16.h
//
// A 16-bit float that is the upper half of a float: 1 sign bit, 8 exponent bits, 7 mantissa bits. Arithmetic happens in
// float. The conversion from float rounds to nearest, ties to even.
#pragma once

#include <c10/util/Half.h>

namespace reftorch::c10 {

struct alignas(2) BFloat16 {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() {
    return {};
  }
  C10_TRIVIAL_UNLESS_WATCHED(BFloat16, x);
  C10_HOST_DEVICE constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE BFloat16(float value) : x(round_to_nearest_even(value)) {}
  C10_HOST_DEVICE operator float() const {
    return detail::fp32_from_bits(uint32_t(x) << 16);
  }
  C10_HOST_DEVICE BFloat16& operator+=(float other) {
    return *this = BFloat16(float(*this) + other);
  }

 private:
  C10_HOST_DEVICE static uint16_t round_to_nearest_even(float value) {
    const uint32_t bits = detail::fp32_to_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
      return 0x7fc0;
    }
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

} // namespace reftorch::c10

template <>
class std::numeric_limits<reftorch::c10::BFloat16> {
 public:
  using BFloat16 = reftorch::c10::BFloat16;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 8, digits10 = 2;
  static constexpr BFloat16 min() {
    return BFloat16(0x0080, BFloat16::from_bits());
  }
  static constexpr BFloat16 lowest() {
    return BFloat16(0xff7f, BFloat16::from_bits());
  }
  static constexpr BFloat16 max() {
    return BFloat16(0x7f7f, BFloat16::from_bits());
  }
  static constexpr BFloat16 epsilon() {
    return BFloat16(0x3c00, BFloat16::from_bits());
  }
  static constexpr BFloat16 infinity() {
    return BFloat16(0x7f80, BFloat16::from_bits());
  }
  static constexpr BFloat16 quiet_NaN() {
    return BFloat16(0x7fc0, BFloat16::from_bits());
  }
};
