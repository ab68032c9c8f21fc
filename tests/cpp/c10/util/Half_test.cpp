// Mirrors: c10/test/util/Half_test.cpp
// Every half, and every place where rounding turns from one to the next.
#include <c10/util/Half.h>

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

using reftorch::c10::Half;

namespace {

// By the meaning of the bits: 1 sign, 5 exponent, 10 mantissa.
double value_of(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(0x400 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

uint16_t rounded(double value) {
  return Half(static_cast<float>(value)).x;
}

} // namespace

TEST_CASE("a finite half is the float it stands for, and comes back") {
  for (int sign : {0, 0x8000}) {
    for (int bits = 0; bits < 0x7c00; bits++) {
      const Half half(static_cast<uint16_t>(sign | bits), Half::from_bits());
      REQUIRE(double(float(half)) == value_of(half.x));
      REQUIRE(std::signbit(float(half)) == (sign != 0));
      REQUIRE(Half(float(half)).x == half.x);
    }
  }
}

TEST_CASE("between two halves the nearer one is taken, in the middle the even one") {
  for (int bits = 0; bits < 0x7bff; bits++) {
    const auto low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const auto middle = static_cast<float>((value_of(low) + value_of(high)) / 2); // a float has the digits for it
    REQUIRE(rounded(middle) == (low % 2 == 0 ? low : high));
    REQUIRE(rounded(-middle) == (0x8000 | (low % 2 == 0 ? low : high)));
    REQUIRE(rounded(std::nextafter(middle, 0.f)) == low);
    REQUIRE(rounded(std::nextafter(middle, 1e9f)) == high);
  }
}

TEST_CASE("what is no finite half") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(rounded(65519.99f) == 0x7bff);
  CHECK(rounded(65520.f) == 0x7c00); // halfway to 65536
  CHECK(rounded(std::numeric_limits<float>::max()) == 0x7c00);
  CHECK(rounded(inf) == 0x7c00);
  CHECK(rounded(-inf) == 0xfc00);
  CHECK(rounded(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK((Half(nan).x & 0x7fff) == 0x7e00);
  CHECK(float(Half(0x7c00, Half::from_bits())) == inf);
  CHECK(float(Half(0xfc00, Half::from_bits())) == -inf);
  CHECK(std::isnan(float(Half(0x7c01, Half::from_bits()))));
  CHECK(std::isnan(float(Half(0xffff, Half::from_bits()))));
}
