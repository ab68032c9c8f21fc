// Mirrors: aten/src/ATen/test/vec_test_all_types.cpp
// The fast rung of exp and tanh against the naive one, in double: about one unit in the last place.
#include <ATen/native/cpu/VectorMath.h>

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

TEST_CASE("vec_tanh is within 1.6 units of std::tanh") {
  const auto fast = [](float x) { return vec_tanh(x); };
  CHECK(worst_ulps(1e30f, fast, [](double x) { return std::tanh(x); }) < 1.6);
}

TEST_CASE("vec_tanh at the ends of the range") {
  CHECK(vec_tanh(kInf) == 1.f);
  CHECK(vec_tanh(-kInf) == -1.f);
  CHECK(std::signbit(vec_tanh(-0.f)));
  CHECK(std::isnan(vec_tanh(kNan)));
}
