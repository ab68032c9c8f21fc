// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (exp, tanh), third_party/sleef
// The fast rung of exp and tanh for float: no branch, no call, so the compiler makes vector instructions of a loop
// around them. The naive rung is std::exp and std::tanh; every other type takes it. Left out: logarithms and
// trigonometry.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace reftorch::at::native {

// 2^n for n in [-126, 127]: the exponent field alone.
inline float pow2i(int32_t n) {
  const int32_t bits = (n + 127) << 23;
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

// x = n ln2 + r with |r| <= ln2/2; then e^x = 2^n e^r, e^r by its series (minimax coefficients of Cephes' expf). ln2 is
// split in two so that n * ln2_hi is exact. 2^n is applied in two halves: n may lie outside what one exponent field
// holds.
inline float vec_exp(float x) {
  constexpr float kLog2e = 1.44269504088896341f, kLn2Hi = 0.693359375f, kLn2Lo = -2.12194440e-4f;
  constexpr float kMax = 88.8f, kMin = -104.f; // beyond: infinity and zero, which the scaling below produces
  const float clamped = x > kMax ? kMax : x < kMin ? kMin : x; // NaN passes through
  // Adding and subtracting 1.5 * 2^23 rounds to an integer.
  const float n = (clamped * kLog2e + 12582912.f) - 12582912.f;
  const float r = (clamped - n * kLn2Hi) - n * kLn2Lo;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.f;
  const int32_t exponent = x == x ? static_cast<int32_t>(n) : 0, half = exponent >> 1;
  return p * pow2i(half) * pow2i(exponent - half);
}
inline double vec_exp(double x) {
  return std::exp(x);
}

// tanh x = (1 - e^-2|x|) / (1 + e^-2|x|) loses its digits near zero; there an odd polynomial (Cephes' tanhf) takes
// over.
inline float vec_tanh(float x) {
  const float ax = std::fabs(x);
  const float e = vec_exp(-2.f * ax);
  const float far = (1.f - e) / (1.f + e);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = ax + ax * (z * p);
  return std::copysign(ax < 0.625f ? near : far, x);
}
inline double vec_tanh(double x) {
  return std::tanh(x);
}

} // namespace reftorch::at::native
