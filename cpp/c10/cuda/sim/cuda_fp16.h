// Mirrors: nothing in PyTorch: stands in for CUDA's <cuda_fp16.h>
//
// __half and __half2 with the functions and operators of CUDA. Each operation computes in float and rounds once, as
// reftorch's own halves do. Left out: rounding modes other than to nearest, and the functions with saturation.
#pragma once

#include <c10/util/Half.h>

#include <half_functions.h>

struct alignas(2) __half {
  unsigned short bits;

  C10_TRIVIAL_UNLESS_WATCHED(__half, bits);
  __half(float value) : bits(reftorch::c10::detail::fp16_from_fp32(value)) {}
  __half(double value) : __half(static_cast<float>(value)) {}
  __half(int value) : __half(static_cast<float>(value)) {}
  operator float() const {
    return reftorch::c10::detail::fp16_to_fp32(bits);
  }
};
using half = __half;
struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;
template <>
struct cudasim::is_half<__half> : std::true_type {};
template <>
struct cudasim::is_half_pair<__half2> : std::true_type {};

inline __half __float2half(float value) {
  return value;
}
inline __half __float2half_rn(float value) {
  return value;
}
inline __half __double2half(double value) {
  return value;
}
inline __half __int2half_rn(int value) {
  return value;
}
inline float __half2float(__half value) {
  return value;
}
inline int __half2int_rn(__half value) {
  return static_cast<int>(std::nearbyint(float(value)));
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {x, y};
}
inline __half2 __float2half2_rn(float value) {
  return {value, value};
}
inline float2 __half22float2(__half2 value) {
  return {float(value.x), float(value.y)};
}
inline __half2 __float22half2_rn(float2 value) {
  return {value.x, value.y};
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __half2half2(__half value) {
  return {value, value};
}
inline unsigned short __half_as_ushort(__half value) {
  return value.bits;
}
inline __half __ushort_as_half(unsigned short bits) {
  __half value;
  value.bits = bits;
  return value;
}
