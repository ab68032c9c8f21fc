// Mirrors: c10/util/Half.h
// IEEE binary16 as storage: 1 sign, 5 exponent, 10 mantissa bits. Arithmetic happens in float; conversion rounds to
// nearest, ties to even. Left out: hardware conversion instructions (the compiler's float loops dominate), complex
// halves.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace reftorch::c10 {

namespace detail {

inline uint32_t fp32_to_bits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof(bits));
  return bits;
}
inline float fp32_from_bits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

inline float fp16_to_fp32(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16;
  const uint32_t exponent = (h >> 10) & 0x1f;
  const uint32_t mantissa = h & 0x3ff;
  if (exponent == 0x1f) { // infinity and NaN
    return fp32_from_bits(sign | 0x7f800000 | (mantissa << 13));
  }
  if (exponent == 0) { // zero and subnormals: mantissa * 2^-24 is exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return fp32_from_bits(sign | fp32_to_bits(magnitude));
  }
  return fp32_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline uint16_t fp16_from_fp32(float f) {
  const uint32_t bits = fp32_to_bits(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return sign | 0x7e00;
  }
  if (magnitude >= 0x477ff000) { // rounds to 65536 or more
    return sign | 0x7c00;
  }
  if (magnitude < 0x38800000) { // below 2^-14: adding 0.5 lets the float unit round at bit 2^-24
    const float shifted = fp32_from_bits(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(fp32_to_bits(shifted) - fp32_to_bits(0.5f));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return sign | static_cast<uint16_t>((magnitude + 0xfff + odd - (112u << 23)) >> 13);
}

} // namespace detail

struct alignas(2) Half {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() {
    return {};
  }
  Half() = default;
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  Half(float value) : x(detail::fp16_from_fp32(value)) {}
  operator float() const {
    return detail::fp16_to_fp32(x);
  }
  Half& operator+=(float other) {
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
