// Mirrors: c10/util/Half.h
//
// IEEE binary16 as a storage type: 1 sign bit, 5 exponent bits, 10 mantissa bits. Arithmetic happens in float. The
// conversion from float rounds to nearest, ties to even. Left out: hardware conversion instructions, complex halves.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace reftorch::c10 {

namespace detail {

C10_HOST_DEVICE inline uint32_t fp32_to_bits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof(bits));
  return bits;
}
C10_HOST_DEVICE inline float fp32_from_bits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

// The two conversions have no branches, so that compilers vectorize loops over them. Each computes the results for both
// cases and selects one.

C10_HOST_DEVICE inline float fp16_to_fp32(uint16_t h) {
  const uint32_t bits = uint32_t(h) << 16, sign = bits & 0x80000000, magnitude = bits + bits;
  // Normal numbers, infinity and NaN: exponent e and mantissa are moved to their places in a float, with e increased by
  // 224. Multiplying by 2^-112 leaves e + 112, which is right for a float (its bias is larger by 112). The largest
  // exponent of a half, 31, becomes 255, so infinity and NaN stay infinity and NaN.
  const float normal = fp32_from_bits((magnitude >> 4) + (224u << 23)) * 0x1p-112f;
  // Zero and subnormal numbers: placed in the last mantissa bits of 0.5, the mantissa counts in steps of 2^-24, as in a
  // half.
  const float subnormal = fp32_from_bits((magnitude >> 17) | (126u << 23)) - 0.5f;
  return fp32_from_bits(sign | fp32_to_bits(magnitude < (1u << 27) ? subnormal : normal));
}

C10_HOST_DEVICE inline uint16_t fp16_from_fp32(float f) {
  const uint32_t bits = fp32_to_bits(f), magnitude = bits + bits, sign = (bits >> 16) & 0x8000;
  // Multiplying up and down scales the number by 4 and turns a number of 2^16 or more into infinity.
  const float scaled = fp32_from_bits(bits & 0x7fffffff) * 0x1p112f * 0x1p-110f;
  // Rounding: `scaled` is added to a power of two that is so large that the last bit of the sum is the last bit of the
  // half. For a number in [2^e, 2^(e+1)) that is 2^(e+15); for a number that becomes subnormal it is always 2.
  const uint32_t exponent = magnitude & 0xff000000, bias = exponent < 0x71000000 ? 0x71000000 : exponent;
  const uint32_t rounded = fp32_to_bits(fp32_from_bits((bias >> 1) + 0x07800000) + scaled);
  const uint32_t half = ((rounded >> 13) & 0x7c00) + (rounded & 0xfff);
  return static_cast<uint16_t>(sign | (magnitude > 0xff000000 ? 0x7e00 : half));
}

} // namespace detail

struct alignas(2) Half {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() {
    return {};
  }
  C10_TRIVIAL_UNLESS_WATCHED(Half, x);
  C10_HOST_DEVICE constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE Half(float value) : x(detail::fp16_from_fp32(value)) {}
  C10_HOST_DEVICE operator float() const {
    return detail::fp16_to_fp32(x);
  }
  C10_HOST_DEVICE Half& operator+=(float other) {
    return *this = Half(float(*this) + other);
  }
};

} // namespace reftorch::c10

template <>
class std::numeric_limits<reftorch::c10::Half> {
 public:
  using Half = reftorch::c10::Half;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 11, digits10 = 3;
  static constexpr Half min() {
    return Half(0x0400, Half::from_bits());
  }
  static constexpr Half lowest() {
    return Half(0xfbff, Half::from_bits());
  }
  static constexpr Half max() {
    return Half(0x7bff, Half::from_bits());
  }
  static constexpr Half epsilon() {
    return Half(0x1400, Half::from_bits());
  }
  static constexpr Half infinity() {
    return Half(0x7c00, Half::from_bits());
  }
  static constexpr Half quiet_NaN() {
    return Half(0x7e00, Half::from_bits());
  }
};
