// Mirrors: nothing in PyTorch: stands in for CUDA's <cuda_bf16.h>
//
// __nv_bfloat16 and __nv_bfloat162, as cuda_fp16.h has __half and __half2.
#pragma once

#include <c10/util/BFloat16.h>

#include <half_functions.h>

struct alignas(2) __nv_bfloat16 {
  unsigned short bits;

  C10_TRIVIAL_UNLESS_WATCHED(__nv_bfloat16, bits);
  __nv_bfloat16(float value) : bits(reftorch::c10::BFloat16(value).x) {}
  __nv_bfloat16(double value) : __nv_bfloat16(static_cast<float>(value)) {}
  __nv_bfloat16(int value) : __nv_bfloat16(static_cast<float>(value)) {}
  operator float() const {
    return reftorch::c10::detail::fp32_from_bits(uint32_t(bits) << 16);
  }
};
using nv_bfloat16 = __nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat162 = __nv_bfloat162;
template <>
struct cudasim::is_half<__nv_bfloat16> : std::true_type {};
template <>
struct cudasim::is_half_pair<__nv_bfloat162> : std::true_type {};

inline __nv_bfloat16 __float2bfloat16(float value) {
  return value;
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return value;
}
inline __nv_bfloat16 __double2bfloat16(double value) {
  return value;
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return value;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {x, y};
}
inline float2 __bfloat1622float2(__nv_bfloat162 value) {
  return {float(value.x), float(value.y)};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
