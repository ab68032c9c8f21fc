// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (exp, tanh), third_party/sleef
//
// The fast rung of some functions for float, and of most of them for double. The functions have no branch and no call,
// so the compiler makes vector instructions of a loop around them. The naive rung is the function of the C library,
// which the remaining functions use for double. VectorMathWide.h has functions composed of these.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// Inlining is forced, because the compiler stops inlining in a file with many kernels, and a loop that contains a call
// cannot become vector instructions.
#ifdef NDEBUG
#define VECTOR_MATH inline __attribute__((always_inline))
#else
#define VECTOR_MATH inline
#endif

namespace reftorch::at::native {

// Evaluates a polynomial by Horner's rule; the coefficient of the highest power comes first.
template <typename T, typename... Rest>
VECTOR_MATH T horner(T x, T highest, Rest... rest) {
  static_assert((true && ... && std::is_same_v<Rest, T>), "a coefficient of another type would be rounded");
  T sum = highest;
  ((sum = sum * x + rest), ...);
  return sum;
}

// 2^n for n in [-126, 127]: sets the exponent bits only.
VECTOR_MATH float pow2i(int32_t n) {
  const int32_t bits = (n + 127) << 23;
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

// e^r - 1 for |r| <= ln2/2, by a series with the minimax coefficients of expf in Cephes.
VECTOR_MATH float exp_minus_one_series(float r) {
  const float p = horner(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                         5.0000001201e-1f);
  return p * (r * r) + r;
}

VECTOR_MATH uint32_t bits_of(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof(bits));
  return bits;
}
// 2^n for n in [-126, 127], from a number whose lowest bits hold n + 127.
VECTOR_MATH float pow2_of_low_bits(uint32_t bits) {
  bits <<= 23; // to the exponent
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

// x = n ln2 + r with |r| <= ln2/2, so e^x = 2^n e^r, where e^r comes from the series. ln2 is split in two parts so that
// n * ln2_hi is exact. 2^n is applied as a product of two powers, because n may be too large or too small for one
// exponent field. Adding 1.5 * 2^23 to a number rounds it to an integer, and leaves that integer in the lowest bits of
// the sum: the exponents are taken from there, which saves the conversion to an integer. Beyond the limits the scaling
// would give infinity or zero; there, the numbers computed before have no meaning.
VECTOR_MATH float vec_exp(float x) {
  constexpr float kLog2e = 1.44269504088896341f, kLn2Hi = 0.693359375f, kLn2Lo = -2.12194440e-4f;
  constexpr float kMax = 88.8f, kMin = -104.f, kInf = std::numeric_limits<float>::infinity();
  constexpr float kShift = 12582912.f + 127.f, kTwoShifts = kShift + 127.f;
  const float sum = x * kLog2e + kTwoShifts, sum_half = x * (0.5f * kLog2e) + kShift; // hold n + 254 and n/2 + 127
  const float n = sum - kTwoShifts;
  const float r = (x - n * kLn2Hi) - n * kLn2Lo;
  const float p = exp_minus_one_series(r) + 1.f;
  const uint32_t half = bits_of(sum_half), rest = bits_of(sum) - half;
  const float power = p * pow2_of_low_bits(half) * pow2_of_low_bits(rest); // NaN if x is
  return x > kMax ? kInf : x < kMin ? 0.f : power;
}

// e^x for x <= 0, as in vec_exp, but 2^n in one factor: results below 2^-126, among them all subnormal numbers, are 0.
VECTOR_MATH float exp_of_negative(float x) {
  constexpr float kShift = 12582912.f + 127.f;
  const float sum = x * 1.44269504088896341f + kShift, n = sum - kShift;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const float p = exp_minus_one_series(r) + 1.f;
  return x < -87.3f ? 0.f : p * pow2_of_low_bits(bits_of(sum));
}

VECTOR_MATH double pow2i_double(int32_t n) {
  const int64_t bits = (int64_t(n) + 1023) << 52;
  double f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

// e^r - 1 for double, by the Taylor series; its 14th term is below the precision of a double.
VECTOR_MATH double exp_minus_one_series(double r) {
  const double p = horner(r, 1. / 6227020800., 1. / 479001600., 1. / 39916800., 1. / 3628800., 1. / 362880.,
                          1. / 40320., 1. / 5040., 1. / 720., 1. / 120., 1. / 24., 1. / 6., 1. / 2.);
  return p * (r * r) + r;
}

constexpr double kLog2e = 1.4426950408889634074;
constexpr double kLn2Hi = 6.93147180369123816490e-01, kLn2Lo = 1.90821492927058770002e-10; // split as in fdlibm
constexpr double kRound = 6755399441055744.;                                               // 1.5 * 2^52

VECTOR_MATH double vec_exp(double x) {
  const double clamped = x > 710. ? 710. : x < -746. ? -746. : x;
  const double n = (clamped * kLog2e + kRound) - kRound;
  const double r = (clamped - n * kLn2Hi) - n * kLn2Lo;
  const double p = exp_minus_one_series(r) + 1.;
  const int32_t exponent = x == x ? static_cast<int32_t>(n) : 0, half = exponent >> 1;
  return p * pow2i_double(half) * pow2i_double(exponent - half);
}
VECTOR_MATH double exp_of_negative(double x) {
  return vec_exp(x);
}

// tanh x = (1 - e^-2|x|) / (1 + e^-2|x|), where e^-2|x| = 2^n + 2^n (e^r - 1), as in vec_exp. Because e^r - 1 is known
// without the 1, the numerator keeps its digits near zero, where 1 - 2^n is exact. From 10 on, tanh x rounds to 1.
VECTOR_MATH float vec_tanh(float x) {
  constexpr float kLog2e = 1.44269504088896341f, kShift = 12582912.f + 127.f;
  const float ax = std::fabs(x), y = -2.f * (ax > 10.f ? 10.f : ax);
  const float sum = y * kLog2e + kShift, n = sum - kShift;
  const float r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
  const float scale = pow2_of_low_bits(bits_of(sum));
  const float scaled = scale * exp_minus_one_series(r);
  return std::copysign(((1.f - scale) - scaled) / ((1.f + scale) + scaled), x);
}
// 2^x = 2^n e^(r ln2), where n is the integer nearest to x.
VECTOR_MATH float vec_exp2(float x) {
  const float clamped = x > 129.f ? 129.f : x < -151.f ? -151.f : x;
  const float n = (clamped + 12582912.f) - 12582912.f;
  const float r = (clamped - n) * 0.693147180559945f;
  const float p = exp_minus_one_series(r) + 1.f;
  const int32_t exponent = x == x ? static_cast<int32_t>(n) : 0, half = exponent >> 1;
  return p * pow2i(half) * pow2i(exponent - half);
}
VECTOR_MATH double vec_exp2(double x) {
  const double clamped = x > 1025. ? 1025. : x < -1076. ? -1076. : x;
  const double n = (clamped + kRound) - kRound;
  const double p = exp_minus_one_series((clamped - n) * 0.69314718055994530942) + 1.;
  const int32_t exponent = x == x ? static_cast<int32_t>(n) : 0, half = exponent >> 1;
  return p * pow2i_double(half) * pow2i_double(exponent - half);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1). For small x (n = 0) the first summand keeps its digits. The code computes with
// 2^(n-1) and doubles the result, because 2^128 is not a float.
VECTOR_MATH float vec_expm1(float x) {
  constexpr float kLog2e = 1.44269504088896341f, kLn2Hi = 0.693359375f, kLn2Lo = -2.12194440e-4f;
  const float clamped = x > 88.8f ? 88.8f : x < -50.f ? -50.f : x;
  const float n = (clamped * kLog2e + 12582912.f) - 12582912.f;
  const float r = (clamped - n * kLn2Hi) - n * kLn2Lo;
  const float p = exp_minus_one_series(r);
  const float half_scale = pow2i((x == x ? static_cast<int32_t>(n) : 0) - 1);
  return std::copysign(2.f * (p * half_scale + (half_scale - 0.5f)), x); // -0 for -0
}
VECTOR_MATH double vec_expm1(double x) {
  const double clamped = x > 710. ? 710. : x < -50. ? -50. : x;
  const double n = (clamped * kLog2e + kRound) - kRound;
  const double r = (clamped - n * kLn2Hi) - n * kLn2Lo;
  const double half_scale = pow2i_double((x == x ? static_cast<int32_t>(n) : 0) - 1);
  return std::copysign(2. * (exp_minus_one_series(r) * half_scale + (half_scale - 0.5)), x);
}

// tanh x = (1 - e^-2|x|) / (1 + e^-2|x|), computed from e^-2|x| - 1, which keeps its digits near zero.
VECTOR_MATH double vec_tanh(double x) {
  const double e = vec_expm1(-2. * std::fabs(x));
  return std::copysign(-e / (e + 2.), x);
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x; a subnormal x is scaled to a normal number first.
// With f = m - 1, log m is f + rest, where rest comes from a series (logf in Cephes).
struct LogParts {
  float e, f, rest;
};
VECTOR_MATH LogParts log_parts(float x) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const float scaled = subnormal ? x * 8388608.f : x; // 2^23
  int32_t bits;
  std::memcpy(&bits, &scaled, sizeof(bits));
  const int32_t mantissa_bits = (bits & 0x007fffff) | 0x3f000000; // in [1/2, 1)
  float m;
  std::memcpy(&m, &mantissa_bits, sizeof(m));
  const bool low = m < 0.707106781186547524f;
  const float e = static_cast<float>((bits >> 23) - 126 - (subnormal ? 23 : 0) - (low ? 1 : 0));
  const float f = m - 1.f + (low ? m : 0.f);
  const float z = f * f;
  const float p = horner(f, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                         -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  return {e, f, p * f * z - 0.5f * z};
}

// Returns `result`, or the logarithm of an x that log_parts does not handle: zero, infinity, a negative number or NaN.
template <typename T>
VECTOR_MATH T log_or_special(T x, T result) {
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  return x > 0 ? (x < kInf ? result : x) : x == 0 ? -kInf : kNan;
}

VECTOR_MATH float vec_log(float x) {
  const LogParts parts = log_parts(x);
  const float log_m = parts.f + (parts.rest - parts.e * 2.12194440e-4f);
  return log_or_special(x, log_m + parts.e * 0.693359375f);
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite doubles.
struct DoubleParts {
  double e, m;
};
VECTOR_MATH DoubleParts binary_parts(double x) {
  const bool subnormal = x < std::numeric_limits<double>::min();
  const double scaled = subnormal ? x * 18014398509481984. : x; // 2^54
  int64_t bits;
  std::memcpy(&bits, &scaled, sizeof(bits));
  const int64_t mantissa_bits = (bits & 0x000fffffffffffff) | 0x3fe0000000000000; // in [1/2, 1)
  double m;
  std::memcpy(&m, &mantissa_bits, sizeof(m));
  const bool low = m < 0.70710678118654752440;
  const double e = static_cast<int32_t>(bits >> 52) - 1022 - (subnormal ? 54 : 0) - (low ? 1 : 0);
  return {e, low ? 2 * m : m};
}

// log m = f - (half_square - rest). The series is log m = 2 artanh(s) with s = (m - 1) / (m + 1); because |s| < 0.172,
// its 11th term is below the precision of a double. The sum is written so that f = m - 1, which is exact, is added last
// (fdlibm).
struct DoubleLogParts {
  double e, f, half_square, rest;
};
VECTOR_MATH DoubleLogParts log_parts(double x) {
  const DoubleParts parts = binary_parts(x);
  const double f = parts.m - 1;
  const double s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
  const double p = horner(z, 2. / 23., 2. / 21., 2. / 19., 2. / 17., 2. / 15., 2. / 13., 2. / 11., 2. / 9., 2. / 7.,
                          2. / 5., 2. / 3.);
  return {parts.e, f, half_square, s * (half_square + z * p)};
}

VECTOR_MATH double vec_log(double x) {
  const DoubleLogParts parts = log_parts(x);
  const double log_m = parts.e * kLn2Lo + parts.rest;
  return log_or_special(x, parts.e * kLn2Hi - ((parts.half_square - log_m) - parts.f));
}

// The upper half of the digits of a double: the product of two such halves is exact.
VECTOR_MATH double upper_half(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= ~int64_t(0xffffffff);
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// The logarithm to another base. The logarithms of e and of 2 to this base are given in two parts each. log m is split
// in two parts as well, so that the product of the first parts is exact; the digits that the sum loses are added at the
// end (e_log10.c of FreeBSD).
VECTOR_MATH double log_to_base(double x, double e_high, double e_low, double two_high, double two_low) {
  const DoubleLogParts parts = log_parts(x);
  const double high = upper_half(parts.f - parts.half_square);
  const double low = (parts.f - high) - parts.half_square + parts.rest;
  const double of_m = high * e_high, of_power = parts.e * two_high, sum = of_power + of_m;
  const double rest = parts.e * two_low + (low + high) * e_low + low * e_high;
  return log_or_special(x, sum + (rest + ((of_power - sum) + of_m)));
}

// The result is exact for powers of two.
VECTOR_MATH float vec_log2(float x) {
  const LogParts parts = log_parts(x);
  return log_or_special(x, (parts.f + parts.rest) * 1.44269504088896341f + parts.e);
}
VECTOR_MATH double vec_log2(double x) {
  return log_to_base(x, 1.44269504072144627571, 1.67517131648865118353e-10, 1., 0.);
}

// log(1 + x): u = 1 + x is rounded and loses the last digits of x; the lost part divided by u is the correction.
template <typename T>
VECTOR_MATH T vec_log1p(T x) {
  const T u = T(1) + x;
  const T correction = (x - (u - T(1))) / u;
  const bool regular = u > T(0) && u < std::numeric_limits<T>::infinity();
  return std::copysign(vec_log(u) + (regular ? correction : T(0)), x); // -0 for -0
}

// Near zero an odd polynomial, elsewhere 1 - e^q(|x|); both are least-squares fits, of degree 6 in x^2 and 8 in |x|.
// For |x| > 4 the nearest float is 1.
VECTOR_MATH float vec_erf(float x) {
  const float ax = std::fabs(x), z = x * x;
  const float near = horner(z, 8.29121854621917e-05f, -0.0008124384912662208f, 0.005199459381401539f,
                            -0.02685878798365593f, 0.11283685266971588f, -0.37612631916999817f, 0.12837916612625122f);
  const float t = ax > 4.f ? 4.f : ax;
  const float q = horner(t, 1.6144151686603436e-06f, -4.5598084398079664e-05f, 0.0005928370519541204f,
                         -0.004740563686937094f, 0.026365770027041435f, -0.1099802702665329f, -0.6319347023963928f,
                         -1.1301681995391846f, 0.00030363447149284184f);
  const float far = std::copysign(1.f - vec_exp(q), x);
  return ax < 0.9375f ? near * x + x : x == x ? far : x;
}

// Up to this |x| the reductions below are exact; NaN and infinity take the exact rung as well.
constexpr float kLargestAngle = 1e6f;

// x = n pi/2 + r with |r| <= pi/4, computed in double; pi/2 is split in two parts so that n times the first part is
// exact. Each quarter turn leads to the next of: sine, cosine, -sine, -cosine.
VECTOR_MATH float sine_of_quarter(float x, int32_t quarter) {
  constexpr double kPio2Hi = 1.57079632673412561417, kPio2Lo = 6.07710050650619224932e-11;
  const double n = (x * 0.636619772367581343 + kRound) - kRound;
  const auto r = static_cast<float>((x - n * kPio2Hi) - n * kPio2Lo);
  quarter += static_cast<int32_t>(n);
  const float z = r * r;
  const float s =
      horner(z, 2.724974392340897e-06f, -0.00019840084713712022f, 0.008333331868204882f, -0.16666666663801666f);
  const float c =
      horner(z, -2.735072641307658e-07f, 2.4801137609979542e-05f, -0.001388888932902379f, 0.04166666667709953f);
  const float sine = std::copysign(r + r * z * s, r), cosine = 1.f - 0.5f * z + z * z * c;
  const float value = (quarter & 1) != 0 ? cosine : sine;
  return (quarter & 2) != 0 ? -value : value;
}

// The same reduction for double: r is kept in two parts, pi/2 in three, and the polynomials are those of fdlibm.
VECTOR_MATH double sine_of_quarter(double x, int32_t quarter) {
  constexpr double kPio2Hi = 1.57079632673412561417, kPio2Mid = 6.07710050630396597660e-11,
                   kPio2Lo = 2.02226624879595063154e-21;
  const double n = (x * 0.636619772367581343 + kRound) - kRound;
  const double first = x - n * kPio2Hi, second = first - n * kPio2Mid;
  const double rest = n * kPio2Lo - ((first - second) - n * kPio2Mid);
  const double r = second - rest, r_low = (second - r) - rest;
  quarter += static_cast<int32_t>(n);
  const double z = r * r;
  const double s = horner(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                          -1.98412698298579493134e-04, 8.33333333332248946124e-03);
  const double c = horner(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                          2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02);
  const double sine = r - ((z * (0.5 * r_low - z * r * s) - r_low) + z * r * 1.66666666666666324348e-01);
  const double half = 0.5 * z, most = 1. - half;
  const double cosine = most + (((1. - most) - half) + (z * z * c - r * r_low));
  const double value = (quarter & 1) != 0 ? cosine : sine;
  return (quarter & 2) != 0 ? -value : value;
}

template <typename T>
VECTOR_MATH T vec_sin(T x) {
  return sine_of_quarter(x, 0);
}
template <typename T>
VECTOR_MATH T vec_cos(T x) {
  return sine_of_quarter(x, 1);
}

} // namespace reftorch::at::native
