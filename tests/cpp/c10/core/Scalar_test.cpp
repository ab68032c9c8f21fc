// Mirrors: c10/test/core/scalar_test.cpp
#include <c10/core/Scalar.h>

#include <doctest/doctest.h>

#include <limits>

using namespace reftorch::c10;

TEST_CASE("a number that fits is converted") {
  CHECK(Scalar(-128).to<int8_t>() == -128);
  CHECK(Scalar(126.9).to<int8_t>() == 126);
  CHECK(Scalar(255).to<uint8_t>() == 255);
  CHECK(Scalar(-1).to<uint8_t>() == 255);
  CHECK(Scalar(-255).to<uint8_t>() == 1);
  CHECK(Scalar(std::numeric_limits<int64_t>::lowest()).to<int64_t>() == std::numeric_limits<int64_t>::lowest());
  CHECK(Scalar(-0x1p63).to<int64_t>() == std::numeric_limits<int64_t>::lowest());
  CHECK(Scalar(1e300).to<bool>());
  CHECK(Scalar(1e300).to<double>() == 1e300);
}

TEST_CASE("infinity and NaN are floats") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(Scalar(inf).to<float>() == inf);
  CHECK(std::isnan(Scalar(std::nan("")).to<float>()));
  CHECK(float(Scalar(inf).to<Half>()) == inf);
  CHECK(float(Scalar(-inf).to<BFloat16>()) == -inf);
}

TEST_CASE("a number that does not fit is refused") {
  CHECK_THROWS_WITH_AS(Scalar(128).to<int8_t>(), "value cannot be converted to type int8_t without overflow", Error);
  CHECK_THROWS_AS(Scalar(127.5).to<int8_t>(), Error);
  CHECK_THROWS_AS(Scalar(-256).to<uint8_t>(), Error);
  CHECK_THROWS_AS(Scalar(40000.).to<int16_t>(), Error);
  CHECK_THROWS_AS(Scalar(int64_t(1) << 31).to<int32_t>(), Error);
  CHECK_THROWS_AS(Scalar(0x1p63).to<int64_t>(), Error);
  CHECK_THROWS_AS(Scalar(std::nan("")).to<int64_t>(), Error);
  CHECK_THROWS_AS(Scalar(1e39).to<float>(), Error);
  CHECK_THROWS_AS(Scalar(1e10).to<Half>(), Error);
  CHECK_THROWS_AS(Scalar(-1e300).to<BFloat16>(), Error);
}

TEST_CASE("an integer past int64 keeps its value") {
  const Scalar wide(uint64_t(1) << 63);
  CHECK(wide.isUnsigned());
  CHECK(wide.isIntegral(/*includeBool=*/false));
  CHECK((wide.type() == kUInt64)); // in two pairs, for doctest cannot print a dtype
  CHECK(wide.to<double>() == 0x1p63);
  CHECK(wide.to<bool>());
  CHECK(wide.wrapped_to<int64_t>() == std::numeric_limits<int64_t>::lowest());
  CHECK_THROWS_AS(wide.to<int64_t>(), Error);
  CHECK_THROWS_AS(wide.to<uint8_t>(), Error);
  CHECK_THROWS_AS(wide.to<Half>(), Error);
  CHECK(!Scalar(uint64_t(5)).isUnsigned());
}

TEST_CASE("a cast of a tensor keeps the low bits instead") {
  CHECK(Scalar(300).wrapped_to<int8_t>() == 44);
  CHECK(Scalar(300).wrapped_to<uint8_t>() == 44);
  CHECK(Scalar(1e39).wrapped_to<float>() == std::numeric_limits<float>::infinity());
}
