// Mirrors: aten/src/ATen/test/vec_test_all_types.cpp
// The fast rungs against the naive ones, in double: those that compute in double nearly round right, the polynomials
// are within a few units in the last place.
#include <ATen/cpu/vec/VectorMathWide.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace reftorch::at::native;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// |got - want| in units of want's last place as a float; nothing where both are the same infinity or both no number.
double ulps(float got, double want) {
  if (got == static_cast<float>(want) || (std::isnan(got) && std::isnan(want))) {
    return 0;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(double(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// The worst over floats of every magnitude and both signs, up to `limit`; the ends of the range as well.
template <typename Fast, typename Naive>
double worst_ulps(float limit, Fast fast, Naive naive) {
  double worst = 0;
  auto look_at = [&](float x) { worst = std::max(worst, ulps(fast(x), naive(double(x)))); };
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 7919) {
    float x;
    std::memcpy(&x, &bits, sizeof(x));
    if (x > limit) {
      break;
    }
    look_at(x);
    look_at(-x);
  }
  for (float x : {0.f, 1.f, 0.5f, 0.99999994f, limit}) {
    look_at(x);
    look_at(-x);
  }
  look_at(kNan);
  return worst;
}

// The same of a double.
double units(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) {
    return 0;
  }
  const double size = std::abs(want);
  return std::abs(got - want) / (std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
}

// The worst over doubles of both signs, up to `limit`: as many near zero as far from it.
template <typename Fast, typename Naive>
double worst_units(double limit, Fast fast, Naive naive) {
  double worst = 0;
  for (double x = limit; x > 1e-300; x *= 0.999) {
    worst = std::max({worst, units(fast(x), naive(x)), units(fast(-x), naive(-x))});
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (double x : {0., -0., 1., -1., inf, -inf, double(kNan)}) {
    worst = std::max(worst, units(fast(x), naive(x)));
  }
  return worst;
}

#define WORST_OF_DOUBLES(name, limit) \
  worst_units(limit, [](double x) { return vec_##name(x); }, [](double x) { return std::name(x); })

#define WORST(name, limit) \
  worst_ulps(limit, [](float x) { return vec_##name(x); }, [](double x) { return std::name(x); })

const float kCorners[] = {0.f,    -0.f,  1.f,    -1.f, 2.f,   -2.f, 3.f,   -3.f,  0.5f,   -0.5f,
                          1e-40f, 1e30f, -1e30f, kInf, -kInf, kNan, 127.f, 128.f, -149.f, -150.f};

} // namespace

TEST_CASE("what computes in double is within six tenths of a unit") {
  CHECK(WORST(log10, kInf) < 0.6);
  CHECK(WORST(sinh, kInf) < 0.6);
  CHECK(WORST(cosh, kInf) < 0.6);
  CHECK(WORST(asinh, kInf) < 0.6);
  CHECK(WORST(acosh, kInf) < 0.6);
  CHECK(WORST(atanh, kInf) < 0.6);
  CHECK(WORST(erfc, kInf) < 0.7);
}

TEST_CASE("functions of doubles are within a few units") {
  CHECK(WORST_OF_DOUBLES(exp2, 1100) < 2);
  CHECK(WORST_OF_DOUBLES(expm1, 720) < 3);
  CHECK(WORST_OF_DOUBLES(log1p, 1e300) < 2);
  CHECK(WORST_OF_DOUBLES(tanh, 1e3) < 4);
  CHECK(WORST_OF_DOUBLES(sinh, 720) < 4);
  CHECK(WORST_OF_DOUBLES(cosh, 720) < 4);
  CHECK(WORST_OF_DOUBLES(atanh, 2) < 4);
  CHECK(WORST_OF_DOUBLES(sin, kLargestAngle) < 2);
  CHECK(WORST_OF_DOUBLES(cos, kLargestAngle) < 2);
  CHECK(WORST_OF_DOUBLES(tan, kLargestAngle) < 4);
  for (int n = 1; n < 600000; n += 7) { // next to a zero of the sine, where most digits of the angle cancel
    const double x = n * M_PI;
    CHECK(units(vec_sin(x), std::sin(x)) < 2);
  }
}

TEST_CASE("powers of doubles are within two units, up to where they overflow") {
  std::mt19937 generator(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double worst = 0;
  for (int i = 0; i < 200000; i++) {
    const double widths[] = {1e-5, 1, 20, 700};
    const double base = std::exp(uniform(generator) * widths[i % 4]), end = 1030 / std::abs(std::log2(base));
    const double exponent = uniform(generator) * end;
    const double want = std::pow(base, exponent);
    if (want == 0 || want >= std::numeric_limits<double>::min()) { // a subnormal number has fewer digits
      worst = std::max(worst, units(vec_pow(base, exponent), want));
    }
  }
  CHECK(worst < 2.5);

  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double corners[] = {0.,
                            -0.,
                            1.,
                            -1.,
                            2.,
                            -2.,
                            3.,
                            -3.,
                            0.5,
                            -0.5,
                            1e-310,
                            -1e-310,
                            1e16,
                            1e19,
                            -1e19,
                            127.,
                            -1074.,
                            1024.,
                            5e-324,
                            1e308,
                            1e300,
                            inf,
                            -inf,
                            nan,
                            1.0000000000000002,
                            0.9999999999999999,
                            9007199254740991.,
                            -9007199254740993.};
  for (double base : corners) {
    for (double exponent : corners) {
      CAPTURE(base);
      CAPTURE(exponent);
      const double got = vec_pow(base, exponent), want = std::pow(base, exponent);
      CHECK(units(got, want) < 2.5);
      CHECK((std::isnan(want) || std::signbit(got) == std::signbit(want)));
    }
  }
}

TEST_CASE("ldexp is exact, and rounded once where the result is subnormal") {
  std::mt19937 generator(13);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 20000; i++) {
    const double a = std::ldexp(uniform(generator), static_cast<int>(uniform(generator) * 1074));
    const auto b = static_cast<float>(std::ldexp(uniform(generator), static_cast<int>(uniform(generator) * 149)));
    const double n = std::round(uniform(generator) * 2200);
    const auto m = static_cast<float>(std::round(uniform(generator) * 300));
    CHECK(vec_ldexp(a, n) == std::ldexp(a, static_cast<int>(n)));
    CHECK(vec_ldexp(b, m) == std::ldexp(b, static_cast<int>(m)));
  }
  for (double a : {0., -0., 5e-324, 1.7976931348623157e308, -1., double(kInf), -double(kInf)}) {
    for (int n : {-2147483647, -3000, -2098, -1075, -1074, -1, 0, 1, 1024, 2097, 2098, 3000, 2147483647}) {
      CHECK(vec_ldexp(a, double(n)) == std::ldexp(a, n));
      CHECK(std::signbit(vec_ldexp(a, double(n))) == std::signbit(a));
      CHECK(vec_ldexp(float(a), float(n)) == std::ldexp(float(a), n));
    }
  }
  CHECK(std::isnan(vec_ldexp(double(kNan), 3.)));
}

TEST_CASE("hypot of doubles whose squares are none") {
  for (double scale : {1e-320, 1e-300, 1e-160, 1e-110, 1., 1e140, 1e160, 1e307}) {
    CHECK(units(vec_hypot(3 * scale, -4 * scale), std::hypot(3 * scale, -4 * scale)) < 2);
  }
}

TEST_CASE("erfinv undoes erf") {
  for (float y : {1e-30f, 1e-8f, 0.01f, 0.5f, 0.9f, 0.96f, 0.99f, 0.9999f, 0.9999999f, 0.99999994f}) {
    const double x = vec_erfinv(y), slope = M_2_SQRTPI * std::exp(-x * x);
    const double error = y < 0.5f ? std::erf(x) - y : (1. - y) - std::erfc(x);
    CHECK(std::abs(error / slope) <= 1e-7 * x);
    CHECK(vec_erfinv(-y) == -vec_erfinv(y));
  }
  CHECK(vec_erfinv(0.f) == 0.f);
  CHECK(vec_erfinv(1.f) == kInf);
  CHECK(vec_erfinv(-1.f) == -kInf);
  CHECK(std::isnan(vec_erfinv(1.5f)));
  CHECK(std::isnan(vec_erfinv(kNan)));
}

TEST_CASE("angles are within a few units") {
  CHECK(WORST(tan, kLargestAngle) < 4);
  CHECK(WORST(atan, kInf) < 2);
  CHECK(WORST(asin, kInf) < 3);
  CHECK(WORST(acos, kInf) < 2);
}

TEST_CASE("functions of two numbers, at the corners and between") {
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> uniform(-10, 10);
  auto look_at = [](float a, float b) {
    CAPTURE(a);
    CAPTURE(b);
    CHECK(ulps(vec_pow(a, b), std::pow(double(a), double(b))) < 0.6);
    CHECK(ulps(vec_atan2(a, b), std::atan2(double(a), double(b))) < 2);
    CHECK(ulps(vec_hypot(a, b), std::hypot(double(a), double(b))) < 0.6);
    CHECK(std::signbit(vec_atan2(a, b)) == std::signbit(std::atan2(a, b)));
    if (has_small_quotient(a, b)) {
      CHECK(ulps(vec_fmod(a, b), std::fmod(a, b)) == 0);
    }
    const double x = double(a) * 1.1, y = double(b) * 1.7; // in all the digits of a double
    if (has_small_quotient(x, y)) {
      CHECK(units(vec_fmod(x, y), std::fmod(x, y)) == 0);
    }
    CHECK(units(vec_hypot(x, y), std::hypot(x, y)) < 2);
  };
  for (float a : kCorners) {
    for (float b : kCorners) {
      if (!std::isnan(a) && !std::isnan(b)) {
        look_at(a, b);
      }
    }
  }
  for (int i = 0; i < 20000; i++) {
    look_at(uniform(generator), uniform(generator));
    look_at(std::exp(uniform(generator)), uniform(generator));
    look_at(std::round(uniform(generator)), std::round(uniform(generator)));
    look_at(1e7f * uniform(generator), uniform(generator));
  }
  CHECK(vec_pow(kNan, 0.f) == 1.f);
  CHECK(vec_pow(1.f, kNan) == 1.f);
  CHECK(std::isnan(vec_pow(2.f, kNan)));
  CHECK(std::isnan(vec_pow(kNan, 2.f)));
  CHECK(std::isnan(vec_atan2(kNan, 1.f)));
  CHECK(std::isnan(vec_atan2(1.f, kNan)));
  CHECK(std::isnan(vec_fmod(kNan, 1.f)));
  CHECK(std::isnan(vec_fmod(1.f, kNan)));
  CHECK(vec_hypot(kInf, kNan) == kInf);
  CHECK(std::isnan(vec_hypot(1.f, kNan)));
}
