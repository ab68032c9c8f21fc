// Mirrors: aten/src/ATen/native/ConvolutionMM2d.cpp, aten/src/ATen/native/im2col.h, aten/src/ATen/native/vol2col.h
//
// The three sums of a convolution (Note [Three sums of a convolution]) on raw memory, as a ladder of four rungs:
//   1. naive: the loops of the definition;
//   2. direct: row by row of pixels, for convolutions with one input channel in each group, which have too few terms
//      for a matrix product;
//   3. unfolded: the pixels under each position of the kernel are copied into a matrix (im2col), so that the sum over
//      channels and kernel becomes a matrix product, which the BLAS computes;
//   4. tiled: small blocks of the output, whose sums stay in registers (ConvolutionTiles.h).
// The kernel chooses among the last three; the tests compare all four.
//
// Every function takes these arrays, all dense:
//   x: (N, G, C, input)   w: (G, M, C, kernel)   y: (N, G, M, output)   bias: (G, M) or (G, C), or null
// with N = batch, G = groups, C = in_channels, M = out_channels, and three sizes (depth, height, width) each for input,
// kernel and output. Left out: Winograd's algorithm and blocked layouts.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/Convolution.h>
#include <ATen/native/cpu/ConvolutionTiles.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/Positions.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <cstring>

namespace reftorch::at::native::conv {

using Dims = ConvShape::Dims;

// --- first rung: the definition --------------------------------------------------------------------------------------

// Calls f(o, i, w) for every term of the sum: three indices, into y, x and w.
template <typename F>
void for_each_term(const ConvShape& s, const F& f) {
  for (int64_t n = 0; n < s.batch; n++) {
    for (int64_t g = 0; g < s.groups; g++) {
      for (int64_t m = 0; m < s.out_channels; m++) {
        for (int64_t c = 0; c < s.in_channels; c++) {
          const int64_t y_plane = ((n * s.groups + g) * s.out_channels + m) * s.output_pixels();
          const int64_t x_plane = ((n * s.groups + g) * s.in_channels + c) * s.input_pixels();
          const int64_t w_plane = ((g * s.out_channels + m) * s.in_channels + c) * s.kernel_size();
          for (int64_t o = 0; o < s.output_pixels(); o++) {
            const Dims out{o / (s.output[2] * s.output[1]), o / s.output[2] % s.output[1], o % s.output[2]};
            for (int64_t k = 0; k < s.kernel_size(); k++) {
              const Dims tap{k / (s.kernel[2] * s.kernel[1]), k / s.kernel[2] % s.kernel[1], k % s.kernel[2]};
              Dims in;
              bool inside = true;
              for (int d = 0; d < 3; d++) {
                in[d] = out[d] * s.stride[d] - s.padding[d] + tap[d] * s.dilation[d];
                inside = inside && in[d] >= 0 && in[d] < s.input[d];
              }
              if (inside) {
                f(y_plane + o, x_plane + (in[0] * s.input[1] + in[1]) * s.input[2] + in[2], w_plane + k);
              }
            }
          }
        }
      }
    }
  }
}

// Sets each of the planes, of `pixels` elements, to the bias of its channel.
template <typename T>
void fill_planes(T* planes, const T* bias, int64_t batch, int64_t channels, int64_t pixels) {
  for (int64_t p = 0; p < batch * channels; p++) {
    std::fill_n(planes + p * pixels, pixels, bias == nullptr ? T(0) : bias[p % channels]);
  }
}

template <typename T>
void forward_naive(T* y, const T* x, const T* w, const T* bias, const ConvShape& s) {
  fill_planes(y, bias, s.batch, s.groups * s.out_channels, s.output_pixels());
  for_each_term(s, [&](int64_t o, int64_t i, int64_t k) { y[o] += x[i] * w[k]; });
}

template <typename T>
void backward_input_naive(T* dx, const T* dy, const T* w, const T* bias, const ConvShape& s) {
  fill_planes(dx, bias, s.batch, s.groups * s.in_channels, s.input_pixels());
  for_each_term(s, [&](int64_t o, int64_t i, int64_t k) { dx[i] += dy[o] * w[k]; });
}

template <typename T>
void backward_weight_naive(T* dw, const T* dy, const T* x, const ConvShape& s) {
  std::fill_n(dw, s.groups * s.out_channels * s.in_channels * s.kernel_size(), T(0));
  for_each_term(s, [&](int64_t o, int64_t i, int64_t k) { dw[k] += dy[o] * x[i]; });
}

// --- second rung: rows of pixels -------------------------------------------------------------------------------------

// Calls f(k, out, in, count) for each tap k of the kernel and each row of the output: the `count` pixels from `out` on
// meet the pixels from `in` on, of which one in every stride[2] counts. The indices are those within a plane.
template <typename F>
void for_each_row(const ConvShape& s, const F& f) {
  int64_t k = 0;
  for (int64_t kd = 0; kd < s.kernel[0]; kd++) {
    const Span depths = positions_inside(s, 0, kd);
    for (int64_t kh = 0; kh < s.kernel[1]; kh++) {
      const Span heights = positions_inside(s, 1, kh);
      for (int64_t kw = 0; kw < s.kernel[2]; kw++, k++) {
        const Span widths = positions_inside(s, 2, kw);
        const int64_t first = widths.begin * s.stride[2] - s.padding[2] + kw * s.dilation[2];
        for (int64_t od = depths.begin; widths.begin < widths.end && od < depths.end; od++) {
          const int64_t id = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
          for (int64_t oh = heights.begin; oh < heights.end; oh++) {
            const int64_t ih = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
            f(k, (od * s.output[1] + oh) * s.output[2] + widths.begin, (id * s.input[1] + ih) * s.input[2] + first,
              widths.end - widths.begin);
          }
        }
      }
    }
  }
}

// y[i] += a * x[i * step]
template <typename T>
TARGET_CLONES static void add_scaled(T* y, T a, const T* x, int64_t step, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      y[i] += a * x[i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      y[i] += a * x[i * step];
    }
  }
}

// x[i * step] += a * y[i]
template <typename T>
TARGET_CLONES static void scatter_scaled(T* x, int64_t step, T a, const T* y, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      x[i] += a * y[i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      x[i * step] += a * y[i];
    }
  }
}

// The sum of y[i] * x[i * step]. With sixteen partial sums no addition has to wait for the one before.
template <typename T>
TARGET_CLONES static T dot_rows(const T* y, const T* x, int64_t step, int64_t n) {
  constexpr int kLanes = 16;
  T lanes[kLanes] = {};
  int64_t i = 0;
  if (step == 1) {
    for (; i + kLanes <= n; i += kLanes) {
      for (int l = 0; l < kLanes; l++) {
        lanes[l] += y[i + l] * x[i + l];
      }
    }
  }
  for (; i < n; i++) {
    lanes[i % kLanes] += y[i] * x[i * step];
  }
  T sum = 0;
  for (T lane : lanes) {
    sum += lane;
  }
  return sum;
}

// The direct sums parallelize over planes that no other thread writes to.
template <typename T>
void forward_direct(T* y, const T* x, const T* w, const T* bias, const ConvShape& s) {
  const int64_t channels = s.groups * s.out_channels, work = s.output_pixels() * s.kernel_size() * s.in_channels;
  parallel_for(0, s.batch * channels, grain_of(work), [&](int64_t lo, int64_t hi) {
    for (int64_t plane = lo; plane < hi; plane++) {
      const int64_t n = plane / channels, channel = plane % channels, g = channel / s.out_channels;
      T* out = y + plane * s.output_pixels();
      std::fill_n(out, s.output_pixels(), bias == nullptr ? T(0) : bias[channel]);
      for (int64_t c = 0; c < s.in_channels; c++) {
        const T* in = x + ((n * s.groups + g) * s.in_channels + c) * s.input_pixels();
        const T* taps = w + (channel * s.in_channels + c) * s.kernel_size();
        for_each_row(s, [&](int64_t k, int64_t o, int64_t i, int64_t count) {
          add_scaled(out + o, taps[k], in + i, s.stride[2], count);
        });
      }
    }
  });
}

template <typename T>
void backward_input_direct(T* dx, const T* dy, const T* w, const T* bias, const ConvShape& s) {
  const int64_t channels = s.groups * s.in_channels, work = s.output_pixels() * s.kernel_size() * s.out_channels;
  parallel_for(0, s.batch * channels, grain_of(work), [&](int64_t lo, int64_t hi) {
    for (int64_t plane = lo; plane < hi; plane++) {
      const int64_t n = plane / channels, channel = plane % channels;
      const int64_t g = channel / s.in_channels, c = channel % s.in_channels;
      T* in = dx + plane * s.input_pixels();
      std::fill_n(in, s.input_pixels(), bias == nullptr ? T(0) : bias[channel]);
      for (int64_t m = 0; m < s.out_channels; m++) {
        const T* out = dy + ((n * s.groups + g) * s.out_channels + m) * s.output_pixels();
        const T* taps = w + ((g * s.out_channels + m) * s.in_channels + c) * s.kernel_size();
        for_each_row(s, [&](int64_t k, int64_t o, int64_t i, int64_t count) {
          scatter_scaled(in + i, s.stride[2], taps[k], out + o, count);
        });
      }
    }
  });
}

template <typename T>
void backward_weight_direct(T* dw, const T* dy, const T* x, const ConvShape& s) {
  const int64_t planes = s.groups * s.out_channels * s.in_channels;
  const int64_t work = s.batch * s.output_pixels() * s.kernel_size();
  parallel_for(0, planes, grain_of(work), [&](int64_t lo, int64_t hi) {
    for (int64_t plane = lo; plane < hi; plane++) { // of the weight
      const int64_t c = plane % s.in_channels, channel = plane / s.in_channels, g = channel / s.out_channels;
      T* taps = dw + plane * s.kernel_size();
      std::fill_n(taps, s.kernel_size(), T(0));
      for (int64_t n = 0; n < s.batch; n++) {
        const T* out = dy + (n * s.groups * s.out_channels + channel) * s.output_pixels();
        const T* in = x + ((n * s.groups + g) * s.in_channels + c) * s.input_pixels();
        for_each_row(s, [&](int64_t k, int64_t o, int64_t i, int64_t count) {
          taps[k] += dot_rows(out + o, in + i, s.stride[2], count);
        });
      }
    }
  });
}

// --- third rung: the unfolded input, and a matrix product ------------------------------------------------------------

// columns (channels * kernel, width): row (c, k) has, for each of the `width` output pixels from `first` on, the pixel
// of channel c on which tap k lies, and 0 on the padding. x points to the first of the channels.
template <typename T>
void unfold(T* columns, const T* x, const ConvShape& s, int64_t channels, int64_t first, int64_t width) {
  const int64_t row_width = s.output[2], last = first + width;
  for (int64_t c = 0; c < channels; c++, x += s.input_pixels()) {
    for (int64_t kd = 0; kd < s.kernel[0]; kd++) {
      for (int64_t kh = 0; kh < s.kernel[1]; kh++) {
        for (int64_t kw = 0; kw < s.kernel[2]; kw++, columns += width) {
          const Span inside = positions_inside(s, 2, kw);
          const int64_t shift = kw * s.dilation[2] - s.padding[2];
          for (int64_t o = first; o < last;) { // the part of one row of output pixels that lies in [first, last)
            const int64_t oh = o / row_width % s.output[1], od = o / (row_width * s.output[1]), ow = o % row_width;
            const int64_t count = std::min(row_width - ow, last - o);
            const int64_t ih = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
            const int64_t id = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
            T* out = columns + (o - first);
            const bool on_padding = ih < 0 || ih >= s.input[1] || id < 0 || id >= s.input[0];
            const int64_t begin = on_padding ? ow + count : std::clamp(inside.begin, ow, ow + count);
            const int64_t end = on_padding ? ow + count : std::clamp(inside.end, begin, ow + count);
            std::fill(out, out + (begin - ow), T(0));
            if (begin < end) {
              const T* in = x + (id * s.input[1] + ih) * s.input[2] + begin * s.stride[2] + shift;
              if (s.stride[2] == 1) {
                std::copy_n(in, end - begin, out + (begin - ow));
              } else {
                for (int64_t j = 0; j < end - begin; j++) {
                  out[begin - ow + j] = in[j * s.stride[2]];
                }
              }
            }
            std::fill(out + (end - ow), out + count, T(0));
            o += count;
          }
        }
      }
    }
  }
}

// The transpose of unfold: adds each element of the columns to the pixel from which unfold copies it.
template <typename T>
void fold(T* x, const T* columns, const ConvShape& s, int64_t channels, int64_t first, int64_t width) {
  const int64_t row_width = s.output[2], last = first + width;
  for (int64_t c = 0; c < channels; c++, x += s.input_pixels()) {
    for (int64_t kd = 0; kd < s.kernel[0]; kd++) {
      for (int64_t kh = 0; kh < s.kernel[1]; kh++) {
        for (int64_t kw = 0; kw < s.kernel[2]; kw++, columns += width) {
          const Span inside = positions_inside(s, 2, kw);
          const int64_t shift = kw * s.dilation[2] - s.padding[2];
          for (int64_t o = first; o < last;) {
            const int64_t oh = o / row_width % s.output[1], od = o / (row_width * s.output[1]), ow = o % row_width;
            const int64_t count = std::min(row_width - ow, last - o);
            const int64_t ih = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
            const int64_t id = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
            const int64_t begin = std::clamp(inside.begin, ow, ow + count);
            const int64_t end = std::clamp(inside.end, begin, ow + count);
            if (ih >= 0 && ih < s.input[1] && id >= 0 && id < s.input[0] && begin < end) {
              T* in = x + (id * s.input[1] + ih) * s.input[2] + begin * s.stride[2] + shift;
              scatter_scaled(in, s.stride[2], T(1), columns + (o - first) + (begin - ow), end - begin);
            }
            o += count;
          }
        }
      }
    }
  }
}

// Whether the columns are the input itself: the kernel has one tap, which visits every pixel once.
inline bool columns_are_input(const ConvShape& s) {
  const Dims ones{1, 1, 1}, zeros{0, 0, 0};
  return s.kernel == ones && s.stride == ones && s.padding == zeros;
}

// The number of output pixels that are unfolded at once: equal parts, so that no product is narrow. The columns of so
// many pixels stay in the second-level cache, and no convolution needs memory for the columns of all its pixels.
inline int64_t tile_width(const ConvShape& s, int64_t rows) {
  constexpr int64_t kElements = 1 << 16, kNarrowest = 64;
  const int64_t widest = std::max(kElements / std::max<int64_t>(rows, 1), kNarrowest), pixels = s.output_pixels();
  const int64_t parts = std::max<int64_t>((pixels + widest - 1) / widest, 1);
  return (pixels + parts - 1) / parts;
}

template <typename T>
void forward_unfolded(T* y, const T* x, const T* w, const T* bias, const ConvShape& s) {
  using cpublas::TransposeType;
  const int64_t M = s.out_channels, rows = s.in_channels * s.kernel_size(), pixels = s.output_pixels();
  const int64_t width = columns_are_input(s) ? pixels : tile_width(s, rows), tiles = (pixels + width - 1) / width;
  const int64_t work = std::max<int64_t>(M * rows, 1) * width;
  parallel_for(0, s.batch * s.groups * tiles, grain_of(work / 16), [&](int64_t lo, int64_t hi) {
    Scratch<T> columns(columns_are_input(s) ? 0 : rows * width);
    for (int64_t task = lo; task < hi; task++) {
      const int64_t example_group = task / tiles, g = example_group % s.groups;
      const int64_t first = task % tiles * width, count = std::min(width, pixels - first);
      const T *in = x + example_group * s.in_channels * s.input_pixels(), *matrix = in + first;
      int64_t row_length = pixels;
      if (!columns_are_input(s)) {
        unfold(columns.begin(), in, s, s.in_channels, first, count);
        matrix = columns.begin();
        row_length = count;
      }
      T* out = y + example_group * M * pixels + first;
      for (int64_t m = 0; bias != nullptr && m < M; m++) {
        std::fill_n(out + m * pixels, count, bias[g * M + m]);
      }
      // out (M, count) = weight (M, rows) @ matrix (rows, count) + bias
      cpublas::gemm<T>(TransposeType::NoTranspose, TransposeType::NoTranspose, M, count, rows, 1, w + g * M * rows,
                       rows, matrix, row_length, bias == nullptr ? 0 : 1, out, pixels);
    }
  });
}

template <typename T>
void backward_input_unfolded(T* dx, const T* dy, const T* w, const T* bias, const ConvShape& s) {
  using cpublas::TransposeType;
  const int64_t C = s.in_channels, M = s.out_channels, rows = C * s.kernel_size(), pixels = s.output_pixels();
  const int64_t width = columns_are_input(s) ? pixels : tile_width(s, rows);
  const int64_t work = std::max<int64_t>(M * rows, 1) * pixels;
  parallel_for(0, s.batch * s.groups, grain_of(work / 16), [&](int64_t lo, int64_t hi) {
    Scratch<T> columns(columns_are_input(s) ? 0 : rows * width);
    for (int64_t task = lo; task < hi; task++) {
      const int64_t g = task % s.groups;
      T* in = dx + task * C * s.input_pixels();
      for (int64_t c = 0; c < C; c++) {
        std::fill_n(in + c * s.input_pixels(), s.input_pixels(), bias == nullptr ? T(0) : bias[g * C + c]);
      }
      for (int64_t first = 0; first < pixels; first += width) {
        const int64_t count = std::min(width, pixels - first);
        const T* out = dy + task * M * pixels + first;
        // columns (rows, count) = weight (M, rows) transposed @ dy (M, count)
        const bool direct = columns_are_input(s);
        cpublas::gemm<T>(TransposeType::Transpose, TransposeType::NoTranspose, rows, count, M, 1, w + g * M * rows,
                         rows, out, pixels, direct ? 1 : 0, direct ? in : columns.begin(), count);
        if (!direct) {
          fold(in, columns.begin(), s, C, first, count);
        }
      }
    }
  });
}

// The threads share the channels of the input, so that each element of the result is one sum, in one order, whatever
// the number of threads is.
template <typename T>
void backward_weight_unfolded(T* dw, const T* dy, const T* x, const ConvShape& s) {
  using cpublas::TransposeType;
  const int64_t C = s.in_channels, M = s.out_channels, rows = C * s.kernel_size(), pixels = s.output_pixels();
  const int64_t work = std::max<int64_t>(M, 1) * s.kernel_size() * s.batch * pixels;
  std::fill_n(dw, s.groups * M * rows, T(0));
  parallel_for(0, s.groups * C, grain_of(work / 16), [&](int64_t lo, int64_t hi) {
    for (int64_t channel = lo; channel < hi;) {
      const int64_t g = channel / C, c = channel % C, channels = std::min(C - c, hi - channel);
      const int64_t own_rows = channels * s.kernel_size();
      const int64_t width = columns_are_input(s) ? pixels : tile_width(s, own_rows);
      Scratch<T> columns(columns_are_input(s) ? 0 : own_rows * width);
      for (int64_t n = 0; n < s.batch; n++) {
        const T* in = x + ((n * s.groups + g) * C + c) * s.input_pixels();
        const T* out = dy + (n * s.groups + g) * M * pixels;
        for (int64_t first = 0; first < pixels; first += width) {
          const int64_t count = std::min(width, pixels - first);
          const T* matrix = in;
          if (!columns_are_input(s)) {
            unfold(columns.begin(), in, s, channels, first, count);
            matrix = columns.begin();
          }
          // dw (M, own_rows) += dy (M, count) @ matrix (own_rows, count) transposed
          cpublas::gemm<T>(TransposeType::NoTranspose, TransposeType::Transpose, M, own_rows, count, 1, out + first,
                           pixels, matrix, count, 1, dw + g * M * rows + c * s.kernel_size(), rows);
        }
      }
      channel += channels;
    }
  });
}

// --- the choice ------------------------------------------------------------------------------------------------------

enum class Rung { Naive, Direct, Unfolded, Tiled };

template <typename T>
constexpr bool has_tiles = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <typename T>
Rung fastest_rung(const ConvShape& s) {
  // With many channels a matrix product is as quick, and needs no copy of the weights.
  constexpr int64_t kMostChannelPairs = 1 << 16;
  if (has_tiles<T> && tiles_fit(s) && s.kernel_size() > 1 && s.in_channels * s.out_channels <= kMostChannelPairs) {
    return Rung::Tiled;
  }
  return s.in_channels == 1 && s.groups > 1 ? Rung::Direct : Rung::Unfolded;
}

template <typename T>
void forward(Rung rung, T* y, const T* x, const T* w, const T* bias, const ConvShape& s) {
  if constexpr (has_tiles<T>) {
    if (rung == Rung::Tiled) {
      return forward_tiled(y, x, w, bias, s);
    }
  }
  const auto f = rung == Rung::Naive    ? forward_naive<T>
                 : rung == Rung::Direct ? forward_direct<T>
                                        : forward_unfolded<T>;
  f(y, x, w, bias, s);
}

template <typename T>
void backward_input(Rung rung, T* dx, const T* dy, const T* w, const T* bias, const ConvShape& s) {
  if constexpr (has_tiles<T>) {
    if (rung == Rung::Tiled) {
      if (backward_input_tiled(dx, dy, w, bias, s)) {
        return;
      }
      rung = Rung::Unfolded;
    }
  }
  const auto f = rung == Rung::Naive    ? backward_input_naive<T>
                 : rung == Rung::Direct ? backward_input_direct<T>
                                        : backward_input_unfolded<T>;
  f(dx, dy, w, bias, s);
}

template <typename T>
void backward_weight(Rung rung, T* dw, const T* dy, const T* x, const ConvShape& s) {
  if constexpr (has_tiles<T>) {
    if (rung == Rung::Tiled) {
      return backward_weight_tiled(dw, dy, x, s);
    }
  }
  const auto f = rung == Rung::Naive    ? backward_weight_naive<T>
                 : rung == Rung::Direct ? backward_weight_direct<T>
                                        : backward_weight_unfolded<T>;
  f(dw, dy, x, s);
}

} // namespace reftorch::at::native::conv
