// Mirrors: nothing in PyTorch: its libraries for convolutions are tested elsewhere
// The rungs of ConvolutionRungs.h against each other, on drawn shapes: padding larger than the kernel, strides that
// skip elements, kernels with gaps, groups, and more pixels than are unfolded at once.
#include <ATen/native/cpu/ConvolutionRungs.h>

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

using namespace reftorch::at::native;

namespace {

using Numbers = std::vector<double>;

Numbers drawn_numbers(int64_t n, std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Numbers values(static_cast<size_t>(n));
  for (double& value : values) {
    value = uniform(generator);
  }
  return values;
}

ConvShape drawn_shape(std::mt19937& generator, bool for_tiles = false) {
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  ConvShape s;
  s.batch = draw(1, 3);
  s.groups = draw(1, 3);
  s.in_channels = draw(1, 3);
  s.out_channels = draw(1, for_tiles ? 14 : 3);
  for (int d = 0; d < 3; d++) {
    s.kernel[d] = draw(1, 3);
    s.stride[d] = draw(1, for_tiles ? 1 : 3);
    s.dilation[d] = draw(1, 3);
    const int64_t extent = (s.kernel[d] - 1) * s.dilation[d] + 1;
    s.padding[d] = draw(0, for_tiles ? extent - 1 : 4);
    s.input[d] = std::max<int64_t>(draw(1, 7), extent - 2 * s.padding[d]);
    s.output[d] = (s.input[d] + 2 * s.padding[d] - extent) / s.stride[d] + 1;
  }
  return s;
}

void check_close(const Numbers& got, const Numbers& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); i++) {
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-10));
  }
}

// The tiles for each instruction set of this processor, and not only for the one that the kernels choose.
void check_tiles(const ConvShape& s, const Numbers& x, const Numbers& y, const Numbers& w, const Numbers& bias,
                 const Numbers& output, const Numbers& input, const Numbers& weight) {
  for (const conv::TileLoops<double>& loops : conv::all_tile_loops<double>()) {
    CAPTURE(loops.lanes);
    Numbers got_output(y.size(), 7), got_input(x.size(), 7), got_weight(w.size(), 7);
    conv::forward_tiled(got_output.data(), x.data(), w.data(), bias.data(), s, loops);
    check_close(got_output, output);
    CHECK(conv::backward_input_tiled<double>(got_input.data(), y.data(), w.data(), nullptr, s, loops));
    check_close(got_input, input);
    conv::backward_weight_by_channels(got_weight.data(), y.data(), x.data(), s, loops);
    check_close(got_weight, weight);
    std::fill(got_weight.begin(), got_weight.end(), 7);
    CHECK(conv::backward_weight_by_pixels(got_weight.data(), y.data(), x.data(), s, loops));
    check_close(got_weight, weight);
  }
}

void check_rungs(const ConvShape& s, std::mt19937& generator) {
  const int64_t in = s.batch * s.groups * s.in_channels * s.input_pixels();
  const int64_t out = s.batch * s.groups * s.out_channels * s.output_pixels();
  const int64_t taps = s.groups * s.out_channels * s.in_channels * s.kernel_size();
  const Numbers x = drawn_numbers(in, generator), y = drawn_numbers(out, generator), w = drawn_numbers(taps, generator),
                of_output = drawn_numbers(s.groups * s.out_channels, generator),
                of_input = drawn_numbers(s.groups * s.in_channels, generator);
  Numbers output(y.size()), input(x.size()), weight(w.size());
  conv::forward(conv::Rung::Naive, output.data(), x.data(), w.data(), of_output.data(), s);
  conv::backward_input<double>(conv::Rung::Naive, input.data(), y.data(), w.data(), nullptr, s);
  conv::backward_weight(conv::Rung::Naive, weight.data(), y.data(), x.data(), s);
  if (conv::tiles_fit(s)) {
    check_tiles(s, x, y, w, of_output, output, input, weight);
  }
  for (const conv::Rung rung : {conv::Rung::Direct, conv::Rung::Unfolded, conv::Rung::Tiled}) {
    if (rung == conv::Rung::Tiled && !conv::tiles_fit(s)) {
      continue;
    }
    Numbers got_output(y.size(), 7), got_input(x.size(), 7), got_weight(w.size(), 7);
    conv::forward(rung, got_output.data(), x.data(), w.data(), of_output.data(), s);
    check_close(got_output, output);
    conv::backward_input<double>(rung, got_input.data(), y.data(), w.data(), nullptr, s);
    check_close(got_input, input);
    conv::backward_weight(rung, got_weight.data(), y.data(), x.data(), s);
    check_close(got_weight, weight);
    conv::backward_input(rung, got_input.data(), y.data(), w.data(), of_input.data(), s);
    conv::backward_input(conv::Rung::Naive, input.data(), y.data(), w.data(), of_input.data(), s);
    check_close(got_input, input);
    conv::backward_input<double>(conv::Rung::Naive, input.data(), y.data(), w.data(), nullptr, s);
  }
}

} // namespace

TEST_CASE("the rungs of the convolution agree on drawn shapes") {
  std::mt19937 generator(1);
  for (int i = 0; i < 60; i++) {
    check_rungs(drawn_shape(generator), generator);
  }
}

TEST_CASE("the tiles of a convolution agree with the other rungs, for tiles of each height") {
  std::mt19937 generator(4);
  for (int fitting = 0; fitting < 60;) {
    const ConvShape s = drawn_shape(generator, true);
    if (conv::tiles_fit(s)) { // not if the dilation is wider than the image
      check_rungs(s, generator);
      fitting++;
    }
  }
}

TEST_CASE("the gradient of the weight is right for output channels in several stripes and pixels in several parts") {
  std::mt19937 generator(5);
  ConvShape s;
  s.batch = 2;
  s.in_channels = 3;
  s.out_channels = 21;
  s.input = {1, 30, 25};
  s.kernel = {1, 3, 3};
  s.padding = {0, 1, 1};
  s.output = s.input;
  REQUIRE(s.out_channels > conv::fastest_tile_loops<double>().stripe);
  check_rungs(s, generator);
}

TEST_CASE("an infinite pixel reaches those weights alone that meet it") {
  ConvShape s;
  s.input = {1, 3, 3};
  s.kernel = {1, 2, 2};
  s.output = {1, 2, 2};
  REQUIRE(conv::vectors_of_pixels_fit(s));
  Numbers x(9, 1), dy(4, 1), dw(4), expected(4);
  x[8] = std::numeric_limits<double>::infinity(); // only the last tap lies on the corner
  conv::backward_weight(conv::Rung::Naive, expected.data(), dy.data(), x.data(), s);
  REQUIRE(expected == Numbers{4, 4, 4, x[8]});
  conv::backward_weight(conv::Rung::Tiled, dw.data(), dy.data(), x.data(), s);
  CHECK(dw == expected);
}

TEST_CASE("the rungs of the convolution agree where the pixels are unfolded in several tiles") {
  std::mt19937 generator(2);
  ConvShape s;
  s.in_channels = 40;
  s.out_channels = 2;
  s.input = {1, 20, 23};
  s.kernel = {1, 5, 5};
  s.padding = {0, 2, 2};
  s.output = s.input;
  REQUIRE(conv::tile_width(s, s.in_channels * s.kernel_size()) < s.output_pixels());
  check_rungs(s, generator);
}

TEST_CASE("a kernel of one tap needs no unfolded input") {
  std::mt19937 generator(3);
  ConvShape s;
  s.batch = 2;
  s.groups = 2;
  s.in_channels = 3;
  s.out_channels = 4;
  s.input = s.output = {1, 5, 6};
  REQUIRE(conv::columns_are_input(s));
  check_rungs(s, generator);
}
