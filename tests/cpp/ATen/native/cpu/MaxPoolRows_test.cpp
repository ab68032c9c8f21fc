// Mirrors: nothing in PyTorch: its loops are tested through the ops
// The two rungs of MaxPoolRows.h against each other, on drawn shapes with equal elements, infinities and NaN.
#include <ATen/native/cpu/MaxPoolRows.h>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace reftorch::at::native;

namespace {

template <typename T, typename Place>
void check_drawn_planes(unsigned seed) {
  std::mt19937 generator(seed);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  for (int i = 0; i < 200; i++) {
    PoolShape s;
    for (int d = 0; d < 3; d++) {
      s.kernel[d] = draw(1, 3);
      s.stride[d] = draw(1, 3);
      s.dilation[d] = draw(1, 2);
      s.padding[d] = draw(0, s.kernel[d] / 2);
      const int64_t extent = (s.kernel[d] - 1) * s.dilation[d] + 1;
      s.input[d] = std::max<int64_t>(draw(1, 9), extent - 2 * s.padding[d]);
      s.output[d] = (s.input[d] + 2 * s.padding[d] - extent) / s.stride[d] + 1;
    }
    std::vector<T> x(static_cast<size_t>(s.input_pixels()));
    for (T& value : x) {
      const int64_t kind = draw(0, 9);
      value = kind == 0 ? std::numeric_limits<T>::quiet_NaN() : kind == 1 ? max_pool::lowest_of<T>() : T(draw(-2, 2));
    }
    const PoolWindows windows = windows_of(s);
    const auto pixels = static_cast<size_t>(s.output_pixels());
    std::vector<T> expected(pixels), y(pixels);
    std::vector<int64_t> expected_places(pixels), places(pixels);
    std::vector<Place> counted(pixels);
    max_pool::plane_naive(expected.data(), expected_places.data(), x.data(), s, windows);
    max_pool::plane_by_rows(y.data(), places.data(), x.data(), s, windows, counted.data());
    CHECK(places == expected_places);
    for (size_t o = 0; o < pixels; o++) {
      const bool same = y[o] == expected[o] || (std::isnan(y[o]) && std::isnan(expected[o]));
      CHECK(same);
    }
  }
}

} // namespace

TEST_CASE("the rungs of max pooling agree, for float") {
  check_drawn_planes<float, int32_t>(1);
}

TEST_CASE("the rungs of max pooling agree, for double") {
  check_drawn_planes<double, int64_t>(2);
}
