// Mirrors: aten/src/ATen/test/vec_test_all_types.cpp (the conversions of Half)
// Every rung that this processor climbs against the naive one, bit for bit.
#include <ATen/native/cpu/VectorConvert.h>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace reftorch::at::native;
using reftorch::c10::Half;

namespace {

template <typename To, typename From>
To with_bits(From bits) {
  static_assert(sizeof(To) == sizeof(From));
  To value;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

// What becomes of a NaN's payload is the processor's affair; it stays a NaN.
bool same(float a, float b) {
  return with_bits<uint32_t>(a) == with_bits<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}
bool same(Half a, Half b) {
  return a.x == b.x || (std::isnan(float(a)) && std::isnan(float(b)));
}

template <typename From, typename To>
int64_t differences(const std::vector<From>& in, void (*rung)(const From*, To*, int64_t),
                    void (*naive)(const From*, To*, int64_t)) {
  const auto n = static_cast<int64_t>(in.size());
  std::vector<To> got(n, To(7.f)), want(n, To(7.f));
  rung(in.data(), got.data(), n);
  naive(in.data(), want.data(), n);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    count += !same(got[i], want[i]);
  }
  return count;
}

} // namespace

TEST_CASE("every half becomes the same float on every rung") {
  std::vector<Half> halves;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    halves.push_back(with_bits<Half>(static_cast<uint16_t>(bits)));
  }
  const auto ladder = half_conversions();
  for (const auto& rung : ladder) {
    CAPTURE(rung.name);
    CHECK(differences(halves, rung.to_float, ladder[0].to_float) == 0);
  }
}

TEST_CASE("floats are rounded to the same halves on every rung") {
  std::vector<float> floats;
  for (uint32_t bits = 0; bits < 0x10000; bits++) { // every half, what lies between two of them, and right beside that
    const float here = with_bits<Half>(static_cast<uint16_t>(bits)), next = with_bits<Half>(uint16_t(bits + 1));
    const float middle = here + (next - here) / 2;
    for (float value : {here, middle, std::nextafter(middle, here), std::nextafter(middle, next)}) {
      floats.push_back(value);
    }
  }
  std::mt19937 generator(3);
  for (int i = 0; i < 200000; i++) {
    floats.push_back(with_bits<float>(static_cast<uint32_t>(generator())));
  }
  constexpr float inf = std::numeric_limits<float>::infinity(), max = std::numeric_limits<float>::max();
  for (float value :
       {0.f, 65504.f, 65519.996f, 65520.f, 65536.f, max, inf, 5.9604645e-08f, 2.9802322e-08f, 2.9802326e-08f, 1e-45f,
        std::numeric_limits<float>::min(), std::numeric_limits<float>::quiet_NaN()}) {
    floats.push_back(value);
    floats.push_back(-value);
  }
  const auto ladder = half_conversions();
  for (const auto& rung : ladder) {
    CAPTURE(rung.name);
    CHECK(differences(floats, rung.from_float, ladder[0].from_float) == 0);
  }
}

TEST_CASE("a conversion writes as many as it is told, and no more") {
  for (const auto& rung : half_conversions()) {
    CAPTURE(rung.name);
    for (int64_t n = 0; n <= 40; n++) {
      std::vector<Half> halves(48, Half(2.f)), back(48, Half(-1.f));
      std::vector<float> floats(48, -1.f);
      rung.to_float(halves.data(), floats.data(), n);
      rung.from_float(floats.data(), back.data(), n);
      for (int64_t i = 0; i < 48; i++) {
        CHECK(floats[i] == (i < n ? 2.f : -1.f));
        CHECK(float(back[i]) == (i < n ? 2.f : -1.f));
      }
    }
  }
}

TEST_CASE("convert is one of the rungs") {
  const std::vector<Half> halves(20, Half(0.1f));
  std::vector<float> floats(20);
  std::vector<Half> back(20);
  convert(halves.data(), floats.data(), 20);
  convert(floats.data(), back.data(), 20);
  CHECK(floats == std::vector<float>(20, float(Half(0.1f))));
  CHECK(back[19].x == halves[19].x);
}

TEST_CASE("halves that lie apart are converted as neighbours are") {
  for (int64_t n : {0, 1, 17, 511, 512, 513, 1100}) {
    for (int64_t step : {1, 3}) {
      std::vector<float> floats(n), back(n);
      for (int64_t i = 0; i < n; i++) {
        floats[i] = float(i) / 3.f;
      }
      std::vector<Half> halves(n * step, Half(-1.f));
      const int64_t stride = step * int64_t(sizeof(Half));
      convert(floats.data(), halves.data(), stride, n);
      convert(halves.data(), stride, back.data(), n);
      for (int64_t i = 0; i < n * step; i++) {
        CHECK(float(halves[i]) == (i % step == 0 ? float(Half(floats[i / step])) : -1.f));
      }
      for (int64_t i = 0; i < n; i++) {
        CHECK(back[i] == float(Half(floats[i])));
      }
    }
  }
}
