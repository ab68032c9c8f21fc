// Mirrors: aten/src/ATen/test/vec_test_all_types.cpp
// The fast rungs in double against the naive ones, which are the C library's in long double: a few units in the last
// place.
#include <ATen/cpu/vec/VectorMathWide.h>
#include <ATen/native/Math.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace reftorch::at::native;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

// |got - want| in units of want's last place as a double; nothing where both are the same infinity or both no number.
double ulps(double got, long double want) {
  if (got == static_cast<double>(want) || (std::isnan(got) && std::isnan(want))) {
    return 0;
  }
  int exponent = 0;
  std::frexp(static_cast<double>(want), &exponent);
  return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

template <typename Fast, typename Naive>
double worst_ulps(double low, double high, Fast fast, Naive naive) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> uniform(low, high);
  double worst = std::max(ulps(fast(low), naive(low)), ulps(fast(high), naive(high)));
  for (int i = 0; i < 20000; i++) {
    const double x = uniform(generator);
    worst = std::max(worst, ulps(fast(x), naive(x)));
  }
  return worst;
}

// The same over the magnitudes from low to high, of both signs.
template <typename Fast, typename Naive>
double worst_ulps_over_magnitudes(double low, double high, Fast fast, Naive naive) {
  const auto scaled = [](const auto& f) { return [f](double e) { return f(std::exp(e)); }; };
  const auto mirrored = [](const auto& f) { return [f](double e) { return f(-std::exp(e)); }; };
  const double from = std::log(low), to = std::log(high);
  return std::max(worst_ulps(from, to, scaled(fast), scaled(naive)),
                  worst_ulps(from, to, mirrored(fast), mirrored(naive)));
}

#define RUNGS(name) \
  [](double x) { return vec_##name(x); }, [](double x) { return std::name(static_cast<long double>(x)); }

const double kCorners[] = {0.,     -0.,     1.,     -1.,    0.5,   -0.5, 2.,   -2.,  3.,    -3.,
                           kInf,   -kInf,   kNan,   6.,     -6.,   28.,  -28., 27.2, 1e308, -1.7e308,
                           kLeast, -kLeast, 2e-308, 1e-300, 1e300, 2.5,  -2.5, 1e15, -1e15, 4503599627370496.5};

template <typename Fast, typename Naive>
void check_corners(double limit, Fast fast, Naive naive) {
  for (double x : kCorners) {
    CAPTURE(x);
    CHECK(ulps(fast(x), naive(x)) <= limit);
  }
}

} // namespace

TEST_CASE("the error function in double") {
  CHECK(worst_ulps(-7, 7, RUNGS(erf)) < 2);
  CHECK(worst_ulps_over_magnitudes(1e-320, 10, RUNGS(erf)) < 2);
  check_corners(1, RUNGS(erf));
  CHECK(std::signbit(vec_erf(-0.)));
}

TEST_CASE("the complementary error function in double") {
  CHECK(worst_ulps(-28, 28, RUNGS(erfc)) < 8);
  CHECK(worst_ulps(0.3, 1.2, RUNGS(erfc)) < 8);
  CHECK(worst_ulps_over_magnitudes(1e-320, 10, RUNGS(erfc)) < 8);
  check_corners(8, RUNGS(erfc));
}

TEST_CASE("the inverse error function in double") {
  const auto fast = [](double x) { return vec_erfinv(x); };
  const auto naive = [](double x) { return static_cast<long double>(calc_erfinv(x)); };
  CHECK(worst_ulps(-kLargestErfinv, kLargestErfinv, fast, naive) < 4);
  CHECK(worst_ulps_over_magnitudes(1e-300, 0.5, fast, naive) < 4);
  const auto from_one = [](const auto& f) { return [f](double e) { return f(1 - std::exp(e)); }; };
  CHECK(worst_ulps(-15, -0.5, from_one(fast), from_one(naive)) < 4);
  CHECK(vec_erfinv(0.) == 0);
  CHECK(std::signbit(vec_erfinv(-0.)));
}

TEST_CASE("angles in double") {
  CHECK(worst_ulps(-10, 10, RUNGS(atan)) < 3);
  CHECK(worst_ulps_over_magnitudes(1e-320, 1e308, RUNGS(atan)) < 3);
  CHECK(worst_ulps(-1, 1, RUNGS(asin)) < 4);
  CHECK(worst_ulps_over_magnitudes(1e-320, 1, RUNGS(asin)) < 4);
  CHECK(worst_ulps(-1, 1, RUNGS(acos)) < 4);
  CHECK(worst_ulps(0.99999, 1, RUNGS(acos)) < 4);
  check_corners(4, RUNGS(atan));
  check_corners(4, RUNGS(asin));
  check_corners(4, RUNGS(acos));
}

TEST_CASE("the angle of a point in double") {
  const auto look_at = [](double y, double x) {
    CAPTURE(y);
    CAPTURE(x);
    const double got = vec_atan2(y, x);
    const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    CHECK(ulps(got, want) < 3);
    CHECK((std::isnan(got) || std::signbit(got) == std::signbit(y)));
  };
  for (double y : kCorners) {
    for (double x : kCorners) {
      look_at(y, x);
    }
  }
  std::mt19937_64 generator(11);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20000; i++) {
    look_at(normal(generator) * std::exp(5 * normal(generator)), normal(generator));
  }
}

TEST_CASE("logarithms to the bases 2 and 10 in double") {
  const auto positive = [](double from, double to) {
    return std::max(worst_ulps(
                        std::log(from), std::log(to), [](double e) { return vec_log2(std::exp(e)); },
                        [](double e) { return std::log2(static_cast<long double>(std::exp(e))); }),
                    worst_ulps(
                        std::log(from), std::log(to), [](double e) { return vec_log10(std::exp(e)); },
                        [](double e) { return std::log10(static_cast<long double>(std::exp(e))); }));
  };
  CHECK(positive(1e-320, 1e308) < 1.5);
  CHECK(positive(0.5, 2) < 1.5);
  CHECK(positive(0.9999, 1.0001) < 1.5);
  check_corners(1, RUNGS(log2));
  check_corners(1, RUNGS(log10));
  for (int n = -1074; n < 1024; n++) {
    CHECK(vec_log2(std::ldexp(1., n)) == n);
  }
  double power = 1;
  for (int n = 0; n <= 22; n++, power *= 10) { // those that a double holds
    CHECK(vec_log10(power) == n);
  }
}

TEST_CASE("the logarithm of gamma in double") {
  CHECK(worst_ulps(0.5, 2.5, RUNGS(lgamma)) < 12);
  CHECK(worst_ulps(0.999, 1.001, RUNGS(lgamma)) < 12);
  CHECK(worst_ulps(1.999, 2.001, RUNGS(lgamma)) < 12);
  CHECK(worst_ulps(2.5, 20, RUNGS(lgamma)) < 16);
  CHECK(worst_ulps(20, 1e6, RUNGS(lgamma)) < 4);
  CHECK(worst_ulps(-2, 0.5, RUNGS(lgamma)) < 12);
  CHECK(worst_ulps_over_magnitudes(1e-320, 0.5, RUNGS(lgamma)) < 4);
  CHECK(worst_ulps_over_magnitudes(1e10, 1e300, RUNGS(lgamma)) < 4);
  check_corners(8, RUNGS(lgamma));
}

// Between two poles the function crosses zero: there it is the size of its terms that the digits count from.
TEST_CASE("the logarithm of gamma around its zeros below -2") {
  std::mt19937_64 generator(13);
  std::uniform_real_distribution<double> uniform(-30, -2);
  for (int i = 0; i < 20000; i++) {
    const double x = uniform(generator), size = std::lgamma(-x) + 2;
    CAPTURE(x);
    CHECK(std::fabs(vec_lgamma(x) - std::lgamma(x)) < 1e-15 * size);
  }
}

TEST_CASE("the logarithm of gamma of floats") {
  for (float x : {0.1f, 1.f, 1.0001f, 2.f, 3.7f, 1e30f, -0.3f, -2.4570248f, -17.5f}) {
    CAPTURE(x);
    CHECK(vec_lgamma(x) == static_cast<float>(std::lgamma(double(x))));
  }
  CHECK(vec_lgamma(-3.f) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(vec_lgamma(std::numeric_limits<float>::quiet_NaN())));
}
