// Mirrors: aten/src/ATen/test/vec_test_all_types.cpp
// The fast rungs against the naive ones, in double: a unit or two in the last place.
#include <ATen/cpu/vec/VectorMath.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace reftorch::at::native;

namespace {

// |got - want| in units of want's last place as a float.
double ulps(float got, double want) {
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(double(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// The worst over floats of every magnitude and both signs, up to `limit`.
template <typename Fast, typename Naive>
double worst_ulps(float limit, Fast fast, Naive naive) {
  double worst = 0;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 7919) {
    float x;
    std::memcpy(&x, &bits, sizeof(x));
    if (x > limit) {
      break;
    }
    for (float value : {x, -x}) {
      worst = std::max(worst, ulps(fast(value), naive(double(value))));
    }
  }
  return worst;
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

} // namespace

TEST_CASE("vec_exp is within 1.1 units of std::exp") {
  const auto fast = [](float x) { return vec_exp(x); };
  CHECK(worst_ulps(88.5f, fast, [](double x) { return std::exp(x); }) < 1.1);
}

TEST_CASE("vec_exp at the ends of the range") {
  CHECK(vec_exp(0.f) == 1.f);
  CHECK(vec_exp(89.f) == kInf);
  CHECK(vec_exp(kInf) == kInf);
  CHECK(vec_exp(-kInf) == 0.f);
  CHECK(vec_exp(-105.f) == 0.f);
  CHECK(vec_exp(-100.f) > 0.f); // subnormal
  CHECK(std::isnan(vec_exp(kNan)));
}

TEST_CASE("vec_tanh is within 1.9 units of std::tanh") {
  const auto fast = [](float x) { return vec_tanh(x); };
  CHECK(worst_ulps(1e30f, fast, [](double x) { return std::tanh(x); }) < 1.9);
}

TEST_CASE("vec_tanh at the ends of the range") {
  CHECK(vec_tanh(kInf) == 1.f);
  CHECK(vec_tanh(-kInf) == -1.f);
  CHECK(std::signbit(vec_tanh(-0.f)));
  CHECK(std::isnan(vec_tanh(kNan)));
}

TEST_CASE("vec_exp2 is within 1.5 units of std::exp2") {
  const auto fast = [](float x) { return vec_exp2(x); };
  CHECK(worst_ulps(127.5f, fast, [](double x) { return std::exp2(x); }) < 1.5);
  CHECK(vec_exp2(10.f) == 1024.f);
  CHECK(vec_exp2(-149.f) > 0.f);
  CHECK(vec_exp2(-152.f) == 0.f);
  CHECK(vec_exp2(128.f) == kInf);
  CHECK(vec_exp2(-kInf) == 0.f);
  CHECK(std::isnan(vec_exp2(kNan)));
}

TEST_CASE("vec_expm1 is within 2 units of std::expm1") {
  const auto fast = [](float x) { return vec_expm1(x); };
  CHECK(worst_ulps(88.f, fast, [](double x) { return std::expm1(x); }) < 2);
  CHECK(vec_expm1(1e-20f) == 1e-20f);
  CHECK(vec_expm1(89.f) == kInf);
  CHECK(vec_expm1(kInf) == kInf);
  CHECK(vec_expm1(-kInf) == -1.f);
  CHECK(std::isnan(vec_expm1(kNan)));
}

// The naive function of negative numbers is NaN, which compares with nothing: only the positive ones count.
TEST_CASE("vec_log is within 1.5 units of std::log") {
  const auto fast = [](float x) { return vec_log(std::fabs(x)); };
  CHECK(worst_ulps(3e38f, fast, [](double x) { return std::log(std::fabs(x)); }) < 1.5);
  CHECK(vec_log(1.f) == 0.f);
  CHECK(vec_log(0.f) == -kInf);
  CHECK(vec_log(-0.f) == -kInf);
  CHECK(vec_log(kInf) == kInf);
  CHECK(std::isnan(vec_log(-1.f)));
  CHECK(std::isnan(vec_log(-kInf)));
  CHECK(std::isnan(vec_log(kNan)));
}

TEST_CASE("vec_log2 is within 2 units of std::log2, and exact for powers of two") {
  const auto fast = [](float x) { return vec_log2(std::fabs(x)); };
  CHECK(worst_ulps(3e38f, fast, [](double x) { return std::log2(std::fabs(x)); }) < 2);
  for (int n = -149; n < 128; n++) {
    CHECK(vec_log2(std::ldexp(1.f, n)) == static_cast<float>(n));
  }
  CHECK(vec_log2(0.f) == -kInf);
  CHECK(vec_log2(kInf) == kInf);
  CHECK(std::isnan(vec_log2(-1.f)));
}

TEST_CASE("vec_log1p is within 2 units of std::log1p") {
  CHECK(worst_ulps(
            3e38f, [](float x) { return vec_log1p(std::fabs(x)); }, [](double x) { return std::log1p(std::fabs(x)); }) <
        2);
  CHECK(worst_ulps(
            0.99f, [](float x) { return vec_log1p(-std::fabs(x)); },
            [](double x) { return std::log1p(-std::fabs(x)); }) < 2);
  CHECK(vec_log1p(-1.f) == -kInf);
  CHECK(vec_log1p(kInf) == kInf);
  CHECK(std::isnan(vec_log1p(-1.5f)));
  CHECK(std::isnan(vec_log1p(-kInf)));
  CHECK(std::isnan(vec_log1p(kNan)));
}

TEST_CASE("vec_erf is within 2 units of std::erf") {
  const auto fast = [](float x) { return vec_erf(x); };
  CHECK(worst_ulps(1e30f, fast, [](double x) { return std::erf(x); }) < 2);
  CHECK(vec_erf(kInf) == 1.f);
  CHECK(vec_erf(-kInf) == -1.f);
  CHECK(std::isnan(vec_erf(kNan)));
}

TEST_CASE("vec_sin and vec_cos are within 2 units up to the largest angle") {
  const auto sine = [](float x) { return vec_sin(x); };
  const auto cosine = [](float x) { return vec_cos(x); };
  CHECK(worst_ulps(kLargestAngle, sine, [](double x) { return std::sin(x); }) < 2);
  CHECK(worst_ulps(kLargestAngle, cosine, [](double x) { return std::cos(x); }) < 2);
}

TEST_CASE("exponential and logarithm of doubles are within 1.5 units of the C library's") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto units = [](double got, double want) {
    return got == want ? 0 : std::abs(got - want) / (std::nextafter(std::abs(want), inf) - std::abs(want));
  };
  double worst_exp = 0, worst_log = 0;
  for (int i = -760000; i <= 720000; i++) {
    const double x = i * 0.000999;
    worst_exp = std::max(worst_exp, units(vec_exp(x), std::exp(x)));
    const double power = std::exp(x);
    if (power > 0 && power < inf) {
      worst_log = std::max(worst_log, units(vec_log(power), std::log(power)));
    }
  }
  CHECK(worst_exp < 1.5);
  CHECK(worst_log < 1.5);
  CHECK(vec_exp(0.) == 1);
  CHECK(vec_exp(inf) == inf);
  CHECK(vec_exp(-inf) == 0);
  CHECK(vec_exp(710.) == inf);
  CHECK(vec_exp(-746.) == 0);
  CHECK(std::isnan(vec_exp(nan)));
  CHECK(vec_log(1.) == 0);
  CHECK(vec_log(0.) == -inf);
  CHECK(vec_log(inf) == inf);
  CHECK(vec_log(5e-324) == std::log(5e-324));
  CHECK(std::isnan(vec_log(-1.)));
  CHECK(std::isnan(vec_log(nan)));
}
