// Mirrors: aten/src/ATen/cpu/vec/vec512/vec512_double.h (erf, erfc, atan2, lgamma, ...), third_party/sleef
//
// The fast rung (see VectorMath.h) of functions that take more than a line in double: powers, the error function,
// angles, and the logarithm of gamma. The error of their polynomials is as small as that of Chebyshev's and below the
// precision of a double; the remaining error is the rounding of a few operations. The naive rung is the function of the
// C library.
#pragma once

#include <ATen/cpu/vec/VectorMath.h>

namespace reftorch::at::native {

// --- powers ----------------------------------------------------------------------------------------------------------

// A number as the sum of two; the first has only the upper half of the digits of a double.
struct TwoParts {
  double high, low;
};

// log2 x for positive finite x, with ten bits more than a double, because a power of x loses that many bits. The series
// in s = (m - 1) / (m + 1) is that of log_parts, written as 3/2 log m = s (3 + s^2 + 3/5 s^4 + 3/7 s^6 + ...). No
// digits are lost, because s, the sum in brackets and their product are each kept in two parts (e_pow.c of fdlibm).
VECTOR_MATH TwoParts log2_in_two_parts(double x) {
  constexpr double kHigh = 9.61796700954437255859e-01, kLow = -7.02846165095275826516e-09; // 2 / (3 ln 2)
  const DoubleParts parts = binary_parts(x);
  const double m = parts.m, f = m - 1., s = f / (m + 1.), z = s * s;
  const double s_high = upper_half(s), divisor_high = upper_half(m + 1.), divisor_low = m - (divisor_high - 1.);
  const double s_low = ((f - s_high * divisor_high) - s_high * divisor_low) / (m + 1.);
  const double series =
      z * z *
      horner(z, 3. / 23., 3. / 21., 3. / 19., 3. / 17., 3. / 15., 3. / 13., 3. / 11., 3. / 9., 3. / 7., 3. / 5.);
  const double square = s_high * s_high, rest = series + s_low * (s_high + s);
  const double factor_high = upper_half(3. + square + rest), factor_low = rest - ((factor_high - 3.) - square);
  const double product = s_high * factor_high, lost = s_low * factor_high + factor_low * s;
  const double log_high = upper_half(product + lost), log_low = lost - (log_high - product);
  const double of_m = kHigh * log_high, of_m_low = kLow * log_high + log_low * (kHigh + kLow);
  const double high = upper_half(of_m + of_m_low + parts.e);
  return {high, of_m_low - ((high - parts.e) - of_m)};
}

// 2^(b log2 a) for positive finite a and finite b. If the exponent is beyond kLargestPower, the result is zero or
// infinity.
VECTOR_MATH double pow_of_size(double a, double b) {
  constexpr double kLargestPower = 1100.;
  // the first part has half of the digits
  constexpr double kLn2High = 6.93147182464599609375e-01, kLn2Low = -1.90465429995776804525e-09;
  const TwoParts log2 = log2_in_two_parts(a);
  const double b_high = upper_half(b);
  const double high = b_high * log2.high, low = (b - b_high) * log2.high + b * log2.low, sum = high + low;
  const bool far = std::fabs(sum) > kLargestPower;
  const double x_high = far ? std::copysign(kLargestPower, sum) : high, x_low = far ? 0. : low;

  const double n = ((x_high + x_low) + kRound) - kRound, r = x_high - n, r_high = upper_half(r + x_low);
  const double product = r_high * kLn2High, lost = (x_low - (r_high - r)) * (kLn2High + kLn2Low) + r_high * kLn2Low;
  const double x = product + lost, x_rest = lost - (x - product), power_less_one = exp_minus_one_series(x);
  const double power = 1. + (power_less_one + (x_rest + x_rest * power_less_one));
  const int32_t whole = sum == sum ? static_cast<int32_t>(n) : 0, half = whole >> 1;
  return power * pow2i_double(half) * pow2i_double(whole - half);
}

// a^b, where `size` is |a|^b. If a is negative, the result is negative for an odd b, and NaN for a b that is not an
// integer. The special cases of C (a base of 1, an exponent of 0) are selected at the end. Conditions are ints and not
// bools: the compiler would make branches of conditions on b, because b may be the same number for all elements.
template <typename T>
VECTOR_MATH T pow_with_sign(T a, T b, T size) {
  const T half = T(0.5) * b;
  std::conditional_t<sizeof(T) == 8, int64_t, int32_t> bits; // the sign bit tells -0 from 0
  std::memcpy(&bits, &a, sizeof(bits));
  const int whole = std::trunc(b) == b, odd = whole & int(std::trunc(half) != half);
  const int one = int(b == 0) | int(a == 1) | (int(a == -1) & int(std::fabs(b) > std::numeric_limits<T>::max()));
  const int no_root = int(a < 0) & int(a >= -std::numeric_limits<T>::max()) & (1 - whole) & int(b == b);
  const T result = odd & int(bits < 0) ? -size : size;
  return one ? T(1) : no_root ? std::numeric_limits<T>::quiet_NaN() : result;
}

VECTOR_MATH double vec_pow(double a, double b) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double size = std::fabs(a), power = pow_of_size(size, b);
  const int at_an_end = int(size == 0.) | int(size == kInf) | int(std::fabs(b) == kInf);
  const double end = int(size > 1.) ^ int(b > 0.) ? 0. : kInf;
  return pow_with_sign(a, b, int(a != a) | int(b != b) ? a + b : at_an_end ? end : power);
}

// --- the error function ----------------------------------------------------------------------------------------------

// erf(x) / x - 1 as a series in z = x^2, for |x| <= 1.
VECTOR_MATH double erf_near_series(double z) {
  return horner(z, -7.795898827002142e-10, 1.3720064546777686e-08, -1.6208483801871705e-07, 1.6447424703317362e-06,
                -1.492473690741966e-05, 0.00012055294904839707, -0.0008548325975389692, 0.0052239776071164225,
                -0.02686617064323777, 0.11283791670945006, -0.37612638903183543, 0.12837916709551256);
}
// e^(x^2) erfc(x) / t as a series in s = (t - 11 / 30) * 10 / 3, where t = 2 / (2 + x), for 1 <= x <= 28.
VECTOR_MATH double erfc_far_series(double s) {
  return horner(s, -2.24194971159394e-11, 6.278204081374364e-11, 1.586011277905158e-10, -8.725635872358577e-10,
                1.1385314475578195e-10, 7.095154076416542e-09, -1.2511632614723441e-08, -4.36281626544629e-08,
                1.7742556744575411e-07, 2.0977265867892823e-07, -2.065248719325479e-06, -7.732725066939524e-07,
                2.5346380198992018e-05, 9.962268205017319e-06, -0.0003710771075169648, -0.0006705533731753021,
                0.005810705945075879, 0.04366321321251614, 0.16419859225223998, 0.4287116755835546);
}

// erfc(x) for 1 <= x <= 28. x is split in two parts so that the square of the first part is exact: the digits that a
// rounded x^2 loses would matter in its exponential.
VECTOR_MATH double erfc_of_large(double x) {
  const double t = 2. / (2. + x), p = erfc_far_series((t - 11. / 30.) * (10. / 3.));
  const double high = static_cast<float>(x), d = (high - x) * (high + x); // |d| < 1e-4
  const double rest = 1. + d * (1. + d * (0.5 + d * (1. / 6. + d * (1. / 24.))));
  return t * p * (vec_exp(-high * high) * rest);
}

VECTOR_MATH double vec_erf(double x) {
  const double size = std::fabs(x), a = size > 6. ? 6. : size < 1. ? 1. : size; // erf is 1 past 6
  const double near = x + x * erf_near_series(x * x), far = std::copysign(1. - erfc_of_large(a), x);
  return size < 1. ? near : x == x ? far : x;
}

VECTOR_MATH double vec_erfc(double x) {
  const double size = std::fabs(x), a = size > 28. ? 28. : size < 1. ? 1. : size; // erfc is 0 past 28
  const double near = (1. - x) - x * erf_near_series(x * x), tail = erfc_of_large(a);
  return size < 1. ? near : x < 0. ? 2. - tail : x == x ? tail : x;
}

// --- angles ----------------------------------------------------------------------------------------------------------

// (atan(t) / t - 1) / t^2 as a series in z = t^2, for |t| <= tan(pi/8).
VECTOR_MATH double atan_series(double z) {
  return horner(z, -0.01917688711906226, 0.03923165829558719, -0.0508544973794026, 0.0585814891280221,
                -0.06664511447381948, 0.07692183190826087, -0.09090904578123903, 0.11111111015256361,
                -0.14285714284666542, 0.1999999999999552, -0.3333333333333333);
}

// The angle of the point (x, y). Within one eighth of the circle the tangent of the angle is low / high; in the outer
// half of the eighth, the angle to the diagonal is computed instead. k counts the multiples of pi/4 that this angle is
// added to or subtracted from. Conditions are ints, because the compiler has no vector instruction that selects between
// two bools.
VECTOR_MATH double vec_atan2(double y, double x) {
  constexpr double kPio4High = 7.85398163397448278999e-01, kPio4Low = 3.06161699786838301793e-17;
  constexpr double kTanPio8 = 0.41421356237309503, kMax = std::numeric_limits<double>::max();
  const double ax = std::fabs(x), ay = std::fabs(y), larger = ax < ay ? ay : ax;
  const double scale = larger > 1e300 ? 1e-10 : 1.; // the sum low + high must not overflow
  const double low = (ax < ay ? ax : ay) * scale, high = larger * scale;
  const bool outer = low > kTanPio8 * (high < kMax ? high : kMax);
  const double ratio = (outer ? low - high : low) / (outer ? low + high : high);
  const double t = low == high ? 0. : ratio, z = t * t; // 0 for low == high, where the ratio may be 0 / 0 or inf / inf
  const double eighth = t + t * (z * atan_series(z));
  int64_t bits; // the sign bit tells -0 from 0
  std::memcpy(&bits, &x, sizeof(bits));
  const int k = outer, steep = ay > ax, left = bits < 0;
  const int k_in_quarter = steep * 2 + k * (1 - 2 * steep), k_in_half = left * 4 + k_in_quarter * (1 - 2 * left);
  const double quarters = k_in_half, signed_eighth = (1 - 2 * (steep ^ left)) * eighth;
  const double angle = quarters * kPio4High + (quarters * kPio4Low + signed_eighth);
  return (x != x) | (y != y) ? x + y : std::copysign(angle, y);
}

VECTOR_MATH double vec_atan(double x) {
  return vec_atan2(x, 1.);
}
// asin and acos are angles in a right triangle. The missing side is sqrt(1 - x^2), factored so that no digits cancel
// near 1.
VECTOR_MATH double vec_asin(double x) {
  return vec_atan2(x, std::sqrt((1. - x) * (1. + x)));
}
VECTOR_MATH double vec_acos(double x) {
  return vec_atan2(std::sqrt((1. - x) * (1. + x)), x);
}

// --- the logarithm of gamma ------------------------------------------------------------------------------------------

// log Gamma(y) / ((y - 1) (y - 2)) as a function of u = y - 1/2, for 1/2 <= y <= 5/2: a quotient of two polynomials.
// None of their terms is negative, so no digits cancel.
VECTOR_MATH double lgamma_above(double u) {
  return horner(u, 2.1917573612790456e-05, 0.008500673852180396, 0.22596166476984744, 1.8614201406743491,
                6.589302426567064, 11.471350423439326, 10.253061855471985, 4.494915866101679, 0.7631532572329334);
}
VECTOR_MATH double lgamma_below(double u) {
  return horner(u, 0.002274661524293316, 0.10063934426834983, 1.2575508667872786, 6.589327583769403, 17.07301219471396,
                23.572812315578116, 17.57703836647788, 6.653780002093578, 1.0);
}
// log Gamma(y) minus Stirling's formula, times y, as a series in w = 1 / y^2, for y >= 5/2.
VECTOR_MATH double stirling_series(double w) {
  return horner(w, -0.3798798444577467, 0.43176800571851115, -0.23176632972839445, 0.08129466384616944,
                -0.022593560645490073, 0.006035234354704072, -0.0019031412413929255, 0.0008413836627094221,
                -0.0005952323836025104, 0.0007936507466535246, -0.002777777777623419, 0.08333333333333325);
}
// (sin(pi r) / r - pi) / r^2 as a series in z = r^2, for |r| <= 1/2.
VECTOR_MATH double sine_pi_series(double z) {
  return horner(z, 7.725743030789876e-07, -2.1906201655131958e-05, 0.00046630087411496363, -0.007370430719634586,
                0.08214588659675232, -0.599264529320343, 2.55016403987734, -5.16771278004997);
}

// log |Gamma(x)|. For x >= 1/2 this is log Gamma(y) with y = x. For |x| < 1/2 it follows from Gamma(x) = Gamma(1 + x) /
// x. Below -1/2 it follows from |Gamma(x)| = pi / (|x| |sin(pi x)| Gamma(|x|)), which loses digits around the zeros
// between the poles. In every case the result is log Gamma(y) or -log Gamma(y), minus the logarithm of a factor.
VECTOR_MATH double vec_lgamma(double value) {
  constexpr double kPi = 3.14159265358979323846, kHalfLog2Pi = 0.91893853320467274178;
  // the result for kMax overflows, as that for infinity does
  constexpr double kMax = std::numeric_limits<double>::max();
  // 2^52: every larger number is an integer, so every number below -2^52 is a pole
  constexpr double kWhole = 4503599627370496.;
  const double x = value > kMax ? kMax : value < -kWhole ? -kWhole : value, size = std::fabs(x);
  const double y = size < 0.5 ? 1. + x : size;

  const double low = y > 2.5 ? 2.5 : y, u = low - 0.5;
  // + 0. turns the -0 at 1 and 2 into 0
  const double near = (low - 1.) * (low - 2.) * (lgamma_above(u) / lgamma_below(u)) + 0.;
  const double inverse = 1. / (y < 2.5 ? 2.5 : y);
  const double far = (y - 0.5) * vec_log(y) - y + (kHalfLog2Pi + inverse * stirling_series(inverse * inverse));
  const double of_y = y < 2.5 ? near : far;

  const double bounded = size < kWhole ? size : kWhole, r = bounded - ((bounded + kWhole) - kWhole), z = r * r;
  const double sine = std::fabs(r) * (kPi + z * sine_pi_series(z));
  const double factor = size < 0.5 ? size : size * sine * (1. / kPi);
  return (x <= -0.5 ? -of_y : of_y) - vec_log(x < 0.5 ? factor : 1.);
}
VECTOR_MATH float vec_lgamma(float x) {
  return static_cast<float>(vec_lgamma(double(x)));
}

} // namespace reftorch::at::native
