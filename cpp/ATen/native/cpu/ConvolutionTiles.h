// Mirrors: nothing in PyTorch's own files: oneDNN's direct convolution does this work there
//
// The fourth rung of the ladder in ConvolutionRungs.h, for convolutions whose kernel moves by one pixel: the sums stay
// in registers, and the input is copied once and not once for each tap.
//
// Note [Tiles of a convolution]
// Problem: unfolding copies each pixel kernel_size() times, and a matrix product with few rows spends more time on
// arranging its operands than on the sum. Trick: the input is copied into a frame with zeros around it.
// In the frame, a step of one pixel in the output is a step of one element for every tap, also from the end of a row
// to the begin of the next. So the output, laid out with the frame's width, is one long row, and each tap adds a
// shifted copy of the frame to it. The row is computed in tiles of some channels by some vectors of pixels, which are
// registers: for each tap a tile reads a vector of pixels once and uses it for each of its channels. The elements
// between two rows of the output are computed and not stored.
//
//   input 2 x 3, kernel 2 x 2, padding 1: the frame has rows of 3 + 1 elements, since the zeros to the right of a row
//   are those to the left of the next
//
//     0 0 0 0     the output has 3 rows of 4 elements; its element i is the sum over the taps of
//     0 a b c     frame[i], frame[i + 1], frame[i + 4] and frame[i + 5]
//     0 d e f
//     0 0 0 0 0
#pragma once

#include <ATen/native/Convolution.h>

#include <ATen/Parallel.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/Scratch.h>
#include <ATen/native/cpu/VectorRegister.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace reftorch::at::native::conv {

// A tile has at most kTallest channels, or, for the gradient of the weight, at most kTallest terms.
constexpr int kTallest = 6;
constexpr int64_t kWidestTile = 4; // vectors
constexpr int64_t kMostLanes = 16; // floats in the widest vector

// The loops over tiles for one instruction set. ConvolutionTileLoops.h says what each does.
template <typename T>
struct TileLoops {
  using sum_fn = void (*)(T* y, int64_t pitch, const T* bias, const T* frame, int64_t channel_size, int64_t channels,
                          const int64_t* taps, int64_t kernel_size, const T* weights, int64_t count);
  using dot_fn = void (*)(T* sums, int64_t sums_pitch, const T* dy, int64_t dy_pitch, const T* frame,
                          const int64_t* taps, int64_t count);
  using outer_fn = void (*)(T* sums, const T* dy, const T* frame, const int64_t* shifts, const int64_t* starts,
                            int64_t rows, int64_t width);
  static constexpr int kDotHeight = 2, kDotWidth = 3;

  int64_t lanes;                     // elements of a vector
  int64_t stripe;                    // output channels that outer computes at once
  sum_fn sum[kTallest];              // by height - 1
  dot_fn dot[kDotHeight][kDotWidth]; // by height - 1 and width - 1
  outer_fn outer[kTallest];          // by height - 1
};

} // namespace reftorch::at::native::conv

#define TILE_ISA baseline
#define TILE_BYTES 16 // SSE2 and NEON
#define TILE_TARGET
#include <ATen/native/cpu/ConvolutionTileLoops.h>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TILE_ISA avx2
#define TILE_BYTES 32
#define TILE_TARGET __attribute__((target("avx2,fma")))
#include <ATen/native/cpu/ConvolutionTileLoops.h>
#define TILE_ISA avx512
#define TILE_BYTES 64
#define TILE_TARGET __attribute__((target("avx512f")))
#include <ATen/native/cpu/ConvolutionTileLoops.h>
#endif

namespace reftorch::at::native::conv {

// The loops for each instruction set that this processor has, the widest vectors last.
template <typename T>
std::vector<TileLoops<T>> all_tile_loops() {
  std::vector<TileLoops<T>> ladder{baseline::tile_loops<T>()};
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    ladder.push_back(avx2::tile_loops<T>());
  }
  if (__builtin_cpu_supports("avx512f")) {
    ladder.push_back(avx512::tile_loops<T>());
  }
#endif
  return ladder;
}

template <typename T>
const TileLoops<T>& fastest_tile_loops() {
  static const TileLoops<T> fastest = all_tile_loops<T>().back();
  return fastest;
}

// The copy of one example's channels with zeros around them, and where the taps lie in it.
class Frame final {
 public:
  using Dims = ConvShape::Dims;

  explicit Frame(const ConvShape& s)
      : shape_(s),
        depth_(s.input[0] + 2 * s.padding[0]),
        height_(s.input[1] + 2 * s.padding[1]),
        pitch_(s.input[2] + s.padding[2]) {
    for (int64_t d = 0; d < s.kernel[0]; d++) {
      for (int64_t h = 0; h < s.kernel[1]; h++) {
        for (int64_t w = 0; w < s.kernel[2]; w++) {
          taps_.push_back((d * s.dilation[0] * height_ + h * s.dilation[1]) * pitch_ + w * s.dilation[2]);
        }
      }
    }
  }

  int64_t channel_size() const {
    return depth_ * height_ * pitch_;
  }
  // Behind the last channel are the zeros to the right of its last row, and what the last tile reads too much.
  int64_t size(int64_t channels) const {
    return channels * channel_size() + shape_.padding[2] + kMostLanes * kWidestTile;
  }
  const int64_t* taps() const {
    return taps_.data();
  }
  int64_t pitch() const {
    return pitch_;
  }
  // The rows of the output in the frame. With a depth, the rows between two images are computed, too.
  int64_t output_rows() const {
    return (shape_.output[0] - 1) * height_ + shape_.output[1];
  }

  // Copies the channels from x into a frame that has zeros elsewhere.
  template <typename T>
  void fill(T* frame, const T* x, int64_t channels) const {
    for (int64_t c = 0; c < channels; c++) {
      for (int64_t d = 0; d < shape_.input[0]; d++) {
        for (int64_t h = 0; h < shape_.input[1]; h++, x += shape_.input[2]) {
          const int64_t row = (d + shape_.padding[0]) * height_ + h + shape_.padding[1];
          std::copy_n(x, shape_.input[2], frame + c * channel_size() + row * pitch_ + shape_.padding[2]);
        }
      }
    }
  }

  // Calls f(row, o) for each row of the output among the rows [first, last) of the frame; o is its first pixel.
  template <typename F>
  void each_output_row(int64_t first, int64_t last, const F& f) const {
    for (int64_t row = first; row < last; row++) {
      const int64_t d = row / height_, h = row % height_;
      if (h < shape_.output[1]) {
        f(row - first, (d * shape_.output[1] + h) * shape_.output[2]);
      }
    }
  }

 private:
  const ConvShape& shape_;
  int64_t depth_, height_, pitch_;
  std::vector<int64_t> taps_;
};

// Whether each step of the kernel is one pixel and the frame has room for the output, so that this rung is right. A
// wide dilation with as much padding would make a large frame of zeros.
inline bool tiles_fit(const ConvShape& s) {
  if (s.input_pixels() == 0 || s.output_pixels() == 0) {
    return false;
  }
  for (int d = 0; d < 3; d++) {
    if (s.stride[d] != 1 || s.dilation[d] > std::max(s.input[d], s.output[d])) {
      return false;
    }
    const int64_t reach = s.dilation[d] * (s.kernel[d] - 1);
    if (s.padding[d] > reach || s.output[d] != s.input[d] + 2 * s.padding[d] - reach) {
      return false;
    }
  }
  return true;
}

// The weights in the order in which the tiles read them: group, block of kTallest output channels, term, channel.
// get(g, m, term) returns the weight of an output channel and a term; a term is an input channel and a tap. Returns
// whether all weights are finite.
template <typename T, typename F>
bool pack_weights(T* packed, const ConvShape& s, const F& get) {
  const int64_t terms = s.in_channels * s.kernel_size(), M = s.out_channels;
  T zero = 0; // becomes NaN at the first weight that is not finite
  for (int64_t g = 0; g < s.groups; g++) {
    for (int64_t m = 0; m < M; m += kTallest) {
      for (int64_t term = 0; term < terms; term++) {
        for (int64_t h = m; h < std::min(m + kTallest, M); h++, packed++) {
          *packed = get(g, h, term);
          zero += *packed * 0;
        }
      }
    }
  }
  return zero == 0;
}

template <typename T>
void sum_of_tiles(T* y, const T* x, const T* packed, const T* bias, const ConvShape& s, const TileLoops<T>& loops) {
  const Frame frame(s);
  const int64_t C = s.in_channels, M = s.out_channels, terms = C * s.kernel_size();
  // Some rows at a time, so that the part of the frame stays in the cache while all output channels use it.
  const int64_t rows = std::clamp<int64_t>(256 / frame.pitch(), 1, frame.output_rows());
  const int64_t room = rows * frame.pitch() + kWidestTile * loops.lanes;
  parallel_for(0, s.batch * s.groups, grain_of(terms * M * s.output_pixels() / 16), [&](int64_t lo, int64_t hi) {
    Scratch<T> pixels(frame.size(C)), block(kTallest * room);
    std::fill_n(pixels.begin(), frame.size(C), T(0));
    for (int64_t task = lo; task < hi; task++) {
      const int64_t g = task % s.groups;
      frame.fill(pixels.begin(), x + task * C * s.input_pixels(), C);
      for (int64_t first = 0; first < frame.output_rows(); first += rows) {
        const int64_t last = std::min(first + rows, frame.output_rows());
        const int64_t count = (last - first - 1) * frame.pitch() + s.output[2];
        for (int64_t m = 0; m < M; m += kTallest) {
          const T zeros[kTallest] = {}, *start = bias == nullptr ? zeros : bias + g * M + m;
          const int64_t height = std::min<int64_t>(kTallest, M - m);
          loops.sum[height - 1](block.begin(), room, start, pixels.begin() + first * frame.pitch(),
                                frame.channel_size(), C, frame.taps(), s.kernel_size(), packed + (g * M + m) * terms,
                                count);
          frame.each_output_row(first, last, [&](int64_t row, int64_t o) {
            for (int64_t h = 0; h < height; h++) {
              std::copy_n(block.begin() + h * room + row * frame.pitch(), s.output[2],
                          y + (task * M + m + h) * s.output_pixels() + o);
            }
          });
        }
      }
    }
  });
}

template <typename T>
void forward_tiled(T* y, const T* x, const T* w, const T* bias, const ConvShape& s,
                   const TileLoops<T>& loops = fastest_tile_loops<T>()) {
  const int64_t terms = s.in_channels * s.kernel_size();
  Scratch<T> packed(s.groups * s.out_channels * terms);
  pack_weights(packed.begin(), s,
               [&](int64_t g, int64_t m, int64_t term) { return w[(g * s.out_channels + m) * terms + term]; });
  sum_of_tiles(y, x, packed.begin(), bias, s, loops);
}

// The gradient of the input is a convolution of dy with the kernel turned around: where an output pixel read an input
// pixel through the first tap, the input pixel collects from it through the last. Around dy are zeros, and 0 times an
// infinite weight would be NaN: returns false, with nothing computed, if any weight is not finite.
template <typename T>
bool backward_input_tiled(T* dx, const T* dy, const T* w, const T* bias, const ConvShape& s,
                          const TileLoops<T>& loops = fastest_tile_loops<T>()) {
  ConvShape back = s;
  std::swap(back.in_channels, back.out_channels);
  std::swap(back.input, back.output);
  for (int d = 0; d < 3; d++) {
    back.padding[d] = s.dilation[d] * (s.kernel[d] - 1) - s.padding[d];
  }
  const int64_t C = s.in_channels, M = s.out_channels, taps = s.kernel_size();
  Scratch<T> packed(s.groups * M * C * taps);
  const bool finite = pack_weights(packed.begin(), back, [&](int64_t g, int64_t c, int64_t term) {
    const int64_t m = term / taps, k = taps - 1 - term % taps;
    return w[((g * M + m) * C + c) * taps + k];
  });
  if (finite) {
    sum_of_tiles(dx, dy, packed.begin(), bias, back, loops);
  }
  return finite;
}

// There are two ways to the gradient of the weight. If there are few output channels, a vector holds pixels of one
// channel, and each weight has a vector of partial sums, which have to stay in the second-level cache: this is
// backward_weight_by_pixels. Otherwise a vector holds one pixel of many output channels: backward_weight_by_channels.
inline bool vectors_of_pixels_fit(const ConvShape& s) {
  constexpr int64_t kMostChannels = 7, kMostSums = 4096;
  return s.out_channels <= kMostChannels && s.in_channels * s.out_channels * s.kernel_size() <= kMostSums;
}

// dw. Each weight has one vector of partial sums until all examples are added. The elements of dy between two rows are
// 0, and 0 times an infinite pixel would be NaN: returns false if any weight is not finite, and then the other way has
// to say whether that is right.
template <typename T>
bool backward_weight_by_pixels(T* dw, const T* dy, const T* x, const ConvShape& s, const TileLoops<T>& loops) {
  const int64_t L = loops.lanes, kHeight = loops.kDotHeight, kWidth = loops.kDotWidth;
  const Frame frame(s);
  const int64_t C = s.in_channels, M = s.out_channels, taps = s.kernel_size(), pixels = s.output_pixels();
  const int64_t count = (frame.output_rows() * frame.pitch() + L - 1) / L * L;
  std::vector<char> is_finite(s.groups * C, 1);
  // The threads share the channels of the input, as in backward_weight_unfolded.
  parallel_for(0, s.groups * C, grain_of(M * taps * s.batch * pixels / 16), [&](int64_t lo, int64_t hi) {
    for (int64_t channel = lo; channel < hi;) {
      const int64_t g = channel / C, first = channel % C, channels = std::min(C - first, hi - channel);
      Scratch<T> copy(frame.size(channels)), grads(M * count), sums(channels * M * taps * L);
      std::fill(copy.begin(), copy.end(), T(0));
      std::fill(grads.begin(), grads.end(), T(0));
      std::fill(sums.begin(), sums.end(), T(0));
      for (int64_t n = 0; n < s.batch; n++) {
        const int64_t example_group = n * s.groups + g;
        frame.fill(copy.begin(), x + (example_group * C + first) * s.input_pixels(), channels);
        frame.each_output_row(0, frame.output_rows(), [&](int64_t row, int64_t o) {
          for (int64_t m = 0; m < M; m++) {
            std::copy_n(dy + (example_group * M + m) * pixels + o, s.output[2],
                        grads.begin() + m * count + row * frame.pitch());
          }
        });
        for (int64_t m = 0; m < M; m += kHeight) {
          for (int64_t ck = 0, width; ck < channels * taps; ck += width) {
            const int64_t c = ck / taps, k = ck % taps, height = std::min(kHeight, M - m);
            width = std::min(kWidth, taps - k);
            loops.dot[height - 1][width - 1](sums.begin() + ((c * M + m) * taps + k) * L, taps * L,
                                             grads.begin() + m * count, count, copy.begin() + c * frame.channel_size(),
                                             frame.taps() + k, count);
          }
        }
      }
      for (int64_t i = 0; i < channels * M * taps; i++) {
        const int64_t c = i / (M * taps), m = i / taps % M, k = i % taps;
        T sum = 0;
        for (int64_t l = 0; l < L; l++) {
          sum += sums[i * L + l];
        }
        dw[((g * M + m) * C + first + c) * taps + k] = sum;
        is_finite[channel + c] &= std::isfinite(sum) ? 1 : 0;
      }
      channel += channels;
    }
  });
  return std::find(is_finite.begin(), is_finite.end(), 0) == is_finite.end();
}

// to (count, stripe) = from (channels, pitch) transposed, for `count` pixels; channels <= stripe.
template <typename T>
void interleave_channels(T* to, int64_t stripe, const T* from, int64_t channels, int64_t pitch, int64_t count) {
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t i = 0; i < count; i++) {
      to[i * stripe + c] = from[c * pitch + i];
    }
  }
}

// dw. A tile has the sums of some terms for a stripe of output channels. For each pixel it reads a stripe of dy and
// uses it for each of its terms; a term is an input channel and a tap.
template <typename T>
void backward_weight_by_channels(T* dw, const T* dy, const T* x, const ConvShape& s, const TileLoops<T>& loops) {
  constexpr int64_t kPixels = 256; // so many pixels of a stripe of dy stay in the first-level cache
  const Frame frame(s);
  const int64_t C = s.in_channels, M = s.out_channels, taps = s.kernel_size(), pixels = s.output_pixels();
  const int64_t width = s.output[2], stripe = loops.stripe, stripes = (M + stripe - 1) / stripe;
  std::vector<int64_t> starts;
  frame.each_output_row(0, frame.output_rows(), [&](int64_t row, int64_t) { starts.push_back(row * frame.pitch()); });
  const int64_t all_rows = starts.size(), most_rows = std::clamp<int64_t>(kPixels / width, 1, all_rows);
  // The threads share the channels of the input, as in backward_weight_unfolded.
  parallel_for(0, s.groups * C, grain_of(M * taps * s.batch * pixels / 16), [&](int64_t lo, int64_t hi) {
    for (int64_t channel = lo; channel < hi;) {
      const int64_t g = channel / C, first = channel % C, channels = std::min(C - first, hi - channel);
      const int64_t terms = channels * taps, tiles = (terms + kTallest - 1) / kTallest;
      std::vector<int64_t> shifts;
      for (int64_t term = 0; term < terms; term++) {
        shifts.push_back(term / taps * frame.channel_size() + frame.taps()[term % taps]);
      }
      Scratch<T> copy(frame.size(channels)), grads(most_rows * width * stripe), sums(stripes * terms * stripe);
      std::fill(copy.begin(), copy.end(), T(0));
      std::fill(grads.begin(), grads.end(), T(0)); // the last stripe may have fewer channels
      std::fill(sums.begin(), sums.end(), T(0));
      for (int64_t n = 0; n < s.batch; n++) {
        const int64_t example_group = n * s.groups + g;
        frame.fill(copy.begin(), x + (example_group * C + first) * s.input_pixels(), channels);
        for (int64_t row = 0; row < all_rows; row += most_rows) {
          const int64_t rows = std::min(most_rows, all_rows - row);
          for (int64_t m = 0; m < M; m += stripe) {
            interleave_channels(grads.begin(), stripe, dy + (example_group * M + m) * pixels + row * width,
                                std::min(stripe, M - m), pixels, rows * width);
            for (int64_t tile = 0; tile < tiles; tile++) { // tiles of equal height, because a low tile is slow
              const int64_t term = tile * terms / tiles, end = (tile + 1) * terms / tiles;
              loops.outer[end - term - 1](sums.begin() + m * terms + term * stripe, grads.begin(), copy.begin(),
                                          shifts.data() + term, starts.data() + row, rows, width);
            }
          }
        }
      }
      for (int64_t m = 0; m < M; m++) {
        for (int64_t term = 0; term < terms; term++) {
          dw[((g * M + m) * C + first) * taps + term] = sums[(m / stripe * terms + term) * stripe + m % stripe];
        }
      }
      channel += channels;
    }
  });
}

// dw, by the quicker of the two ways that is right.
template <typename T>
void backward_weight_tiled(T* dw, const T* dy, const T* x, const ConvShape& s,
                           const TileLoops<T>& loops = fastest_tile_loops<T>()) {
  if (!vectors_of_pixels_fit(s) || !backward_weight_by_pixels(dw, dy, x, s, loops)) {
    backward_weight_by_channels(dw, dy, x, s, loops);
  }
}

} // namespace reftorch::at::native::conv
