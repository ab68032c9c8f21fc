// Mirrors: aten/src/ATen/test/reduce_ops_test.cpp
// The rungs of Reduce.h against each other: one element at a time, in lanes, and by Note [Cascade].
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/cpu/Reduce.h>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace reftorch::at::native;

namespace {

std::vector<float> random_floats(int64_t n) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

const char* bytes(const std::vector<float>& values) {
  return reinterpret_cast<const char*>(values.data());
}

const int64_t kLengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 1000, 4095, 4096, 4097, 10000, 100001};

} // namespace

TEST_CASE("lanes and cascade find the same largest element as the naive loop") {
  const MaxOps<float, float> ops;
  for (int64_t n : kLengths) {
    const auto values = random_floats(n);
    const float naive = reduce_strided<float>(bytes(values), sizeof(float), n, ops);
    CHECK(reduce_dense(values.data(), n, ops) == naive);
    CHECK(reduce_run<float>(bytes(values), sizeof(float), n, ops) == naive);
    CHECK(reduce_run<float>(bytes(values), 2 * sizeof(float), n / 2, ops) ==
          reduce_strided<float>(bytes(values), 2 * sizeof(float), n / 2, ops));
  }
}

TEST_CASE("a NaN is found wherever it is") {
  const MaxOps<float, float> largest;
  const MinOps<float, float> smallest;
  for (int64_t n : {1, 31, 64, 100, 127, 128, 129, 200, 256, 300, 5000}) {
    auto values = random_floats(n);
    for (int64_t place = 0; place < n; place += n < 400 ? 1 : 61) {
      const float number = std::exchange(values[place], std::numeric_limits<float>::quiet_NaN());
      CHECK(std::isnan(reduce_dense(values.data(), n, largest)));
      CHECK(std::isnan(reduce_dense(values.data(), n, smallest)));
      values[place] = number;
    }
  }
}

TEST_CASE("independent partial results of strided elements join to the naive loop's") {
  for (int64_t n : kLengths) {
    const auto values = random_floats(3 * n);
    const int64_t step = 3 * sizeof(float);
    const MaxOps<float, float> largest;
    CHECK(reduce_strided_lanes<float>(bytes(values), step, n, largest) ==
          reduce_strided<float>(bytes(values), step, n, largest));
    const SumOps<double, double> sum;
    CHECK(reduce_strided_lanes<float>(bytes(values), step, n, sum) ==
          doctest::Approx(reduce_strided<float>(bytes(values), step, n, sum)).epsilon(1e-12));
  }
}

TEST_CASE("halves are reduced as their floats are, dense, apart and as columns") {
  const SumOps<float, float> sum;
  const MaxOps<float, float> largest;
  constexpr int64_t itemsize = sizeof(reftorch::c10::Half);
  for (int64_t n : kLengths) {
    const auto floats = random_floats(3 * n);
    const std::vector<reftorch::c10::Half> halves(floats.begin(), floats.end());
    const auto* data = reinterpret_cast<const char*>(halves.data());
    for (int64_t step : {itemsize, 3 * itemsize}) {
      const auto naive = reduce_strided<reftorch::c10::Half>(data, step, n, sum);
      CHECK(reduce_halves(data, step, n, sum) == doctest::Approx(naive).epsilon(1e-4).scale(std::sqrt(double(n))));
      CHECK(reduce_halves(data, step, n, largest) == reduce_strided<reftorch::c10::Half>(data, step, n, largest));
    }
    for (int64_t width : {int64_t(1), int64_t(3), kStrip}) { // rows of a wider matrix, and of one that is no wider
      for (int64_t columns : {width, width + 5}) {
        const int64_t rows = 3 * n / columns;
        std::vector<float> naive(width, largest.identity()), fast = naive;
        reduce_rows_into<reftorch::c10::Half>(naive.data(), data, columns * itemsize, rows, width, largest);
        reduce_rows_of_halves_into(fast.data(), data, columns * itemsize, rows, width, largest);
        CHECK(naive == fast);
      }
    }
  }
}

TEST_CASE("integer sums are exact on every rung") {
  const SumOps<int64_t, int64_t> ops;
  for (int64_t n : kLengths) {
    std::vector<int64_t> values(n);
    for (int64_t i = 0; i < n; i++) {
      values[i] = i * i;
    }
    const auto* data = reinterpret_cast<const char*>(values.data());
    const int64_t naive = reduce_strided<int64_t>(data, sizeof(int64_t), n, ops);
    CHECK(reduce_dense(values.data(), n, ops) == naive);
    CHECK(reduce_run<int64_t>(data, sizeof(int64_t), n, ops) == naive);
    CHECK(reduce_all_dense<int64_t>(data, n, ops) == naive);
  }
}

TEST_CASE("Note [Cascade]: a long sum keeps its digits where the naive loop loses them") {
  const int64_t n = 1 << 22;
  const std::vector<float> values(n, 0.1f);
  const SumOps<float, float> ops;
  const double exact = double(n) * double(0.1f);
  const double naive = std::abs(reduce_strided<float>(bytes(values), sizeof(float), n, ops) - exact) / exact;
  const double cascade = std::abs(reduce_run<float>(bytes(values), sizeof(float), n, ops) - exact) / exact;
  CHECK(naive > 1e-3);
  CHECK(cascade < 1e-6);
}

TEST_CASE("Welford's halves join to the whole") {
  const WelfordOps<float> ops{/*correction=*/1, /*take_sqrt=*/false};
  const auto values = random_floats(10001);
  double mean = 0, m2 = 0;
  for (float v : values) {
    mean += v / double(values.size());
  }
  for (float v : values) {
    m2 += (v - mean) * (v - mean);
  }
  const float got = ops.project(reduce_run<float>(bytes(values), sizeof(float), int64_t(values.size()), ops));
  CHECK(got == doctest::Approx(m2 / double(values.size() - 1)).epsilon(1e-6));
}
