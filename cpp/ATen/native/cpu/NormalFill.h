// Mirrors: aten/src/ATen/native/cpu/avx_mathfun.h, aten/src/ATen/native/cpu/DistributionTemplates.h (normal_fill_AVX2)
//
// Sixteen uniform float numbers become sixteen normal ones. PyTorch does this with the polynomials of the Cephes
// library (S. Moshier) in vector registers. A float of randn equals PyTorch's to the last bit only if the same
// polynomials are evaluated in the same order and each multiply-add is rounded once (fma). Left out: what Cephes does
// for arguments that cannot occur here (negative, infinite, huge).
#pragma once

#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace reftorch::at::native {

inline float from_bits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

inline uint32_t to_bits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof(f));
  return bits;
}

// Horner's rule with one rounding for each step: the numbers that PyTorch draws depend on it.
template <typename... Coefficients>
inline float fused_horner(float x, float c0, Coefficients... rest) {
  ((c0 = std::fma(c0, x, rest)), ...);
  return c0;
}

// For x in (0, 1]: x = m * 2^e with m in [sqrt(1/2), sqrt(2)), so log(x) = e log(2) + log(1 + (m - 1)). log(2) is split
// in two parts; the first part has few bits, so that its product with e is exact.
inline float cephes_log(float x) {
  const uint32_t bits = to_bits(x);
  const float half_to_one = from_bits((bits & 0x007fffffu) | 0x3f000000u);
  const bool low = half_to_one < 0.707106781186547524f;
  const float e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126 - (low ? 1 : 0));
  const float m = half_to_one - 1.f + (low ? half_to_one : 0.f);
  const float z = m * m;
  const float p =
      fused_horner(m, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                   -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  const float y = std::fma(-z, 0.5f, std::fma(p * m, z, e * -2.12194440e-4f));
  return std::fma(e, 0.693359375f, m + y);
}

// For x >= 0. The angle is reduced to [-pi/4, pi/4] by a multiple of pi/2, which is given in three parts. The octant
// decides which of the two polynomials is the sine.
inline void cephes_sincos(float x, float* sine, float* cosine) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1; // 4 / pi
  const float y = static_cast<float>(octant);
  x = std::fma(y, -0.78515625f, x);
  x = std::fma(y, -2.4187564849853515625e-4f, x);
  x = std::fma(y, -3.77489497744594108e-8f, x);
  const float z = x * x;
  const float c = fused_horner(z, 2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f) * z;
  const float cos_poly = std::fma(c, z, -(z * 0.5f)) + 1.f;
  const float sin_poly = std::fma(fused_horner(z, -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f) * z, x, x);
  const bool swapped = (octant & 2) != 0;
  const uint32_t sine_sign = static_cast<uint32_t>(octant & 4) << 29;
  const uint32_t cosine_sign = static_cast<uint32_t>(~(octant - 2) & 4) << 29;
  *sine = from_bits(to_bits(swapped ? cos_poly : sin_poly) ^ sine_sign);
  *cosine = from_bits(to_bits(swapped ? sin_poly : cos_poly) ^ cosine_sign);
}

// n pairs of uniform numbers become n pairs of normal ones (Box-Muller).
TARGET_CLONES static void normal_pairs(float* first, float* second, int64_t n, float mean, float std) {
  for (int64_t i = 0; i < n; i++) {
    const float radius = std::sqrt(-2.f * cephes_log(1.f - first[i])); // 1 - u lies in (0, 1]
    float sine, cosine;
    cephes_sincos(static_cast<float>(2 * M_PI) * second[i], &sine, &cosine);
    first[i] = std::fma(radius * cosine, std, mean);
    second[i] = std::fma(radius * sine, std, mean);
  }
}

// data (n), where n is a multiple of 16: uniform on [0, 1) on entry, normal on return. Element j of a block of 16 is
// paired with element j + 8. The halves of many blocks are brought together, because the steps for one number wait for
// each other, and a processor works on more numbers at a time in a long loop than in loops over 8.
static void normal_fill_blocks(float* data, int64_t n, float mean, float std) {
  constexpr int64_t kHalf = 8, kPairs = 256;
  float first[kPairs], second[kPairs];
  for (int64_t begin = 0; begin < n; begin += 2 * kPairs) {
    const int64_t pairs = std::min(kPairs, (n - begin) / 2);
    for (int64_t i = 0; i < pairs; i += kHalf) {
      std::copy_n(data + begin + 2 * i, kHalf, first + i);
      std::copy_n(data + begin + 2 * i + kHalf, kHalf, second + i);
    }
    normal_pairs(first, second, pairs, mean, std);
    for (int64_t i = 0; i < pairs; i += kHalf) {
      std::copy_n(first + i, kHalf, data + begin + 2 * i);
      std::copy_n(second + i, kHalf, data + begin + 2 * i + kHalf);
    }
  }
}

// For double no sequence of numbers has to be matched, so this uses the C library's functions.
static void normal_fill_blocks(double* data, int64_t n, double mean, double std) {
  for (int64_t i = 0; i < n; i += 16) {
    for (int64_t j = i; j < i + 8; j++) {
      const double radius = std::sqrt(-2 * std::log(1 - data[j])), theta = 2 * M_PI * data[j + 8];
      data[j] = std::fma(radius * std::cos(theta), std, mean);
      data[j + 8] = std::fma(radius * std::sin(theta), std, mean);
    }
  }
}

} // namespace reftorch::at::native
