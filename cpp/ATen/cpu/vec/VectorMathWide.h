// Mirrors: aten/src/ATen/cpu/vec/vec_base.h (asin, atan2, pow, ...), third_party/sleef
//
// The fast rung (see VectorMath.h) of more functions for float. They compute in double, where the plain formula keeps
// enough digits, or by polynomials (least-squares fits). The naive rung is the function of the C library, which double
// uses where VectorMathDouble.h has no function.
#pragma once

#include <ATen/cpu/vec/VectorMathDouble.h>

namespace reftorch::at::native {

// --- exponentials and logarithms -------------------------------------------------------------------------------------

// vec_exp in double, with only as many terms as a float result needs, and for a range larger than that of
// floats.
VECTOR_MATH double wide_exp(double x) {
  constexpr double kLn2 = 0.69314718055994530942;
  const double clamped = x > 200. ? 200. : x < -200. ? -200. : x;
  const double n = (clamped * kLog2e + kRound) - kRound, r = clamped - n * kLn2;
  double p = horner(r, 1. / 362880., 1. / 40320., 1. / 5040., 1. / 720., 1. / 120., 1. / 24., 1. / 6., 1. / 2.);
  p = p * (r * r) + r + 1.;
  return p * pow2i_double(x == x ? static_cast<int32_t>(n) : 0);
}

// vec_log in double, with only the digits that a float result needs; subnormal floats are normal numbers in double.
VECTOR_MATH double wide_log(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const int64_t mantissa_bits = (bits & 0x000fffffffffffff) | 0x3fe0000000000000; // in [1/2, 1)
  double m;
  std::memcpy(&m, &mantissa_bits, sizeof(m));
  const bool low = m < 0.70710678118654752440;
  const double e = static_cast<int32_t>(bits >> 52) - 1022 - (low ? 1 : 0);
  const double f = (low ? 2 * m : m) - 1;
  const double s = f / (2 + f), z = s * s;
  const double p = horner(z, 2. / 11., 2. / 9., 2. / 7., 2. / 5., 2. / 3., 2.);
  return log_or_special(x, e * 0.69314718055994530942 + s * p);
}

VECTOR_MATH float vec_log10(float x) {
  return static_cast<float>(wide_log(double(x)) * 0.43429448190325182765);
}
VECTOR_MATH double vec_log10(double x) {
  return log_to_base(x, 4.34294481878168880939e-01, 2.50829467116452752298e-11, 3.01029995663611771306e-01,
                     3.69423907715893078616e-13);
}

// For |x| below this limit, sinh, asinh and atanh of a float round to x itself, and the formulas would lose digits.
constexpr double kNearZero = 1e-4;

VECTOR_MATH float vec_sinh(float x) {
  const double a = std::fabs(double(x)), e = wide_exp(a);
  return std::copysign(static_cast<float>(a < kNearZero ? a : 0.5 * (e - 1. / e)), x);
}
// Above this limit e^-x is less than the last bit of e^x and is left out. e^x is then computed as the square of its
// root, because e^x may overflow where half of e^x does not.
constexpr double kFarFromZero = 22.;

VECTOR_MATH double vec_sinh(double x) {
  const double a = std::fabs(x), e = vec_expm1(a), root = vec_exp(0.5 * a);
  return std::copysign(a > kFarFromZero ? 0.5 * root * root : 0.5 * (e + e / (e + 1.)), x);
}

VECTOR_MATH float vec_cosh(float x) {
  const double e = wide_exp(double(x));
  return static_cast<float>(0.5 * (e + 1. / e));
}
VECTOR_MATH double vec_cosh(double x) {
  const double root = vec_exp(0.5 * std::fabs(x)), e = vec_exp(x);
  return std::fabs(x) > kFarFromZero ? 0.5 * root * root : 0.5 * (e + 1. / e);
}

VECTOR_MATH float vec_asinh(float x) {
  const double a = std::fabs(double(x)), log = wide_log(a + std::sqrt(a * a + 1.));
  return std::copysign(static_cast<float>(a < kNearZero ? a : log), x);
}
VECTOR_MATH double vec_asinh(double x) {
  return std::asinh(x);
}

VECTOR_MATH float vec_acosh(float x) {
  const double a = x, log = wide_log(a + std::sqrt(a * a - 1.));
  return a < 1. ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(log);
}
VECTOR_MATH double vec_acosh(double x) {
  return std::acosh(x);
}

VECTOR_MATH float vec_atanh(float x) {
  const double a = std::fabs(double(x)), log = 0.5 * wide_log((1. + a) / (1. - a));
  return std::copysign(static_cast<float>(a < kNearZero ? a : log), x);
}
VECTOR_MATH double vec_atanh(double x) {
  const double a = std::fabs(x);
  return std::copysign(0.5 * vec_log1p(2. * a / (1. - a)), x);
}

// |a|^b = e^(b log |a|)
VECTOR_MATH float vec_pow(float a, float b) {
  return pow_with_sign(a, b, static_cast<float>(wide_exp(double(b) * wide_log(std::fabs(double(a))))));
}

// a 2^n for integer n, rounded once: the product is computed in double, whose range contains every power that is
// needed.
VECTOR_MATH float vec_ldexp(float a, float n) {
  constexpr float kFar = 400.f; // at this exponent every float becomes zero or infinity
  return static_cast<float>(double(a) * pow2i_double(static_cast<int32_t>(n > kFar ? kFar : n < -kFar ? -kFar : n)));
}
// a 2^n in up to three multiplications. When the number becomes smaller, only the last multiplication may give a
// subnormal number, so that the result is rounded once; the others leave 53 bits of range.
VECTOR_MATH double vec_ldexp(double a, double n) {
  constexpr double kFar = 3000.;
  auto rest = static_cast<int32_t>(n > kFar ? kFar : n < -kFar ? -kFar : n);
  for (int i = 0; i < 2; i++) {
    const int32_t step = rest > 1023 ? 1023 : rest < -1022 ? 53 - 1022 : 0;
    a *= pow2i_double(step);
    rest -= step;
  }
  return a * pow2i_double(rest > 1023 ? 1023 : rest < -1022 ? -1022 : rest);
}

// --- the normal distribution -----------------------------------------------------------------------------------------

// erfc |x| = t e^(q(t) - x^2) with t = 2 / (2 + |x|); the result is zero past 12.
VECTOR_MATH float vec_erfc(float x) {
  const double size = std::fabs(double(x)), a = size > 12. ? 12. : size, t = 2. / (2. + a);
  const double q = horner(t, -0.1354891068089611, 0.9355271251171756, -2.6978524817504774, 4.111872281958408,
                          -3.4418672033033237, 1.605006953242051, -0.6887325758428919, 0.22011945601376298,
                          0.3553760415994521, 1.0016088927393207, -1.2655693766782496);
  const double tail = t * wide_exp(q - a * a);
  return static_cast<float>(x < 0 ? 2. - tail : tail);
}

// x times a polynomial in w = -log(1 - x^2) or, for larger w, in sqrt(w) (M. Giles, 2010).
VECTOR_MATH double erfinv_to_float(double x) {
  const double w = -wide_log((1. - x) * (1. + x));
  const double u = w - 2.5, v = std::sqrt(w) - 3.;
  const double near =
      horner(u, 3.3554608797342683e-10, -8.772804697138196e-09, 1.8037127718688942e-08, 4.658918501030986e-07,
             -3.4346114349227474e-06, -4.961910786882357e-06, 0.00021828263103301884, -0.0012527446624941733,
             -0.004177339405022157, 0.2466402876358469, 1.501409353513866);
  const double far = horner(v, -3.0698410622289775e-05, 0.00016147087600717908, -0.0002753179399380198,
                            -0.0001213432663364497, 0.0014736174824482398, -0.00356651537613827, 0.005688138261689105,
                            -0.00764284740424854, 0.009445257413365242, 1.0016752390096086, 2.8329768021861788);
  return x * (w < 5. ? near : far);
}
VECTOR_MATH float vec_erfinv(float x) {
  const float infinity = std::copysign(std::numeric_limits<float>::infinity(), x);
  return std::fabs(x) == 1.f ? infinity : static_cast<float>(erfinv_to_float(x));
}

// Up to this |x|, one step of Halley's method improves seven digits to the precision of a double. The error is computed
// from the nearer of 0 and 1, so that no digits are lost.
constexpr double kLargestErfinv = 0.9999999;
VECTOR_MATH double vec_erfinv(double x) {
  const double size = std::fabs(x), y = erfinv_to_float(size), tail = y < 1. ? 1. : y;
  const double near = (y - size) + y * erf_near_series(y * y), far = (1. - size) - erfc_of_large(tail);
  const double step = (y < 1. ? near : far) * 0.88622692545275801365 * vec_exp(y * y); // the error divided by erf'(y)
  return std::copysign(y - step / (1. + y * step), x);
}

// --- angles ----------------------------------------------------------------------------------------------------------

constexpr float kPio2High = 1.57079637f, kPio2Low = -4.37113883e-8f; // pi / 2 in two floats

// Sine divided by cosine, with the reduction of sine_of_quarter; for |x| up to kLargestAngle.
template <typename T>
VECTOR_MATH T vec_tan(T x) {
  return sine_of_quarter(x, 0) / sine_of_quarter(x, 1);
}

// atan(t) for t in [0, 1].
VECTOR_MATH float atan_of_ratio(float t) {
  const float z = t * t;
  const float p = horner(z, -0.002508576493073424f, 0.013996484019444425f, -0.03667028452701882f, 0.0631821998184388f,
                         -0.08689044342165911f, 0.1104203544310168f, -0.14279616162661748f, 0.19999790064327877f,
                         -0.333333321388807f);
  return t + t * (z * p);
}

VECTOR_MATH float vec_atan(float x) {
  const float a = std::fabs(x);
  const float angle = atan_of_ratio(a > 1.f ? 1.f / a : a);
  return std::copysign(a > 1.f ? (kPio2High - angle) + kPio2Low : angle, x);
}

// The angle of the point (x, y): the angle of the smaller side over the larger one, moved to the right eighth of the
// circle. Two infinities count as equal sides.
VECTOR_MATH float vec_atan2(float y, float x) {
  const float ax = std::fabs(x), ay = std::fabs(y);
  const float low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
  const float ratio = low == high ? (high == 0.f ? 0.f : 1.f) : low / high;
  const float eighth = atan_of_ratio(ratio);
  const float quarter = ay > ax ? (kPio2High - eighth) + kPio2Low : eighth;
  int32_t sign; // the sign bit tells -0 from 0
  std::memcpy(&sign, &x, sizeof(sign));
  const float half = sign < 0 ? (2.f * kPio2High - quarter) + 2.f * kPio2Low : quarter;
  return (x != x) | (y != y) ? x + y : std::copysign(half, y);
}

// asin(a) for a in [0, 1/2], where z = a^2.
VECTOR_MATH float asin_of_small(float a, float z) {
  const float p = horner(z, 0.038328239675315796f, 0.026433395951080907f, 0.04502020988783654f, 0.07498761647128158f,
                         0.16666673135759932f);
  return a + a * (z * p);
}

// Near 1, asin a = pi/2 - 2 asin(sqrt((1 - a) / 2)).
VECTOR_MATH float vec_asin(float x) {
  const float a = std::fabs(x);
  const bool large = a > 0.5f;
  const float z = large ? 0.5f * (1.f - a) : a * a;
  const float angle = asin_of_small(large ? std::sqrt(z) : a, z);
  return std::copysign(large ? (kPio2High - 2.f * angle) + kPio2Low : angle, x);
}

VECTOR_MATH float vec_acos(float x) {
  const float a = std::fabs(x);
  const bool large = a > 0.5f;
  const float z = large ? 0.5f * (1.f - a) : a * a;
  const float angle = asin_of_small(large ? std::sqrt(z) : a, z);
  const float near_one = 2.f * angle, near_zero = (kPio2High - std::copysign(angle, x)) + kPio2Low;
  return !large ? near_zero : x > 0 ? near_one : (2.f * kPio2High - near_one) + 2.f * kPio2Low;
}

// --- remainders ------------------------------------------------------------------------------------------------------

// Whether |a / b| is small enough for vec_fmod. Any quotient will do where a is infinite, b is zero or one of them is
// NaN.
template <typename T>
VECTOR_MATH bool has_small_quotient(T a, T b) {
  constexpr T kLargest = std::is_same_v<T, float> ? T(1 << 28) : T(int64_t(1) << 52),
              kMax = std::numeric_limits<T>::max();
  return (std::fabs(a) < std::fabs(b) * kLargest) | (std::fabs(a) > kMax) | (a != a) | (b != b) | (b == 0);
}

// a - trunc(a / b) b, without an error. If the quotient of two floats is not an integer, its distance from the next
// integer is larger than the rounding error of a double, so trunc is right; and the product fits into a double.
VECTOR_MATH float vec_fmod(float a, float b) {
  const double wide = b, mod = double(a) - std::trunc(double(a) / wide) * wide;
  constexpr float kMax = std::numeric_limits<float>::max();
  // a finite number modulo infinity is the number itself
  const bool endless = (std::fabs(b) > kMax) & (std::fabs(a) <= kMax);
  return std::copysign(static_cast<float>(endless ? double(a) : mod), a);
}
// For doubles the quotient may round up to an integer; then b was subtracted once too often and is added back. fma
// computes the difference from the unrounded product.
VECTOR_MATH double vec_fmod(double a, double b) {
  const double x = std::fabs(a), y = std::fabs(b), mod = std::fma(-std::trunc(x / y), y, x);
  const bool endless = (y > std::numeric_limits<double>::max()) & (x <= std::numeric_limits<double>::max());
  return std::copysign(endless ? x : mod < 0 ? mod + y : mod, a);
}

VECTOR_MATH float vec_hypot(float a, float b) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto root = static_cast<float>(std::sqrt(double(a) * double(a) + double(b) * double(b)));
  return (std::fabs(a) == kInf) | (std::fabs(b) == kInf) ? kInf : root;
}
// The square of a very large or very small number overflows or underflows. Such numbers are first scaled by a power of
// two.
VECTOR_MATH double vec_hypot(double a, double b) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double x = std::fabs(a), y = std::fabs(b), larger = x > y ? x : y;
  const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p600 : 1.;
  const double root = std::sqrt(x * scale * (x * scale) + y * scale * (y * scale)) / scale;
  return (x == kInf) | (y == kInf) ? kInf : root;
}

} // namespace reftorch::at::native
