// Mirrors: aten/src/ATen/native/UpSample.h, aten/src/ATen/native/cpu/UpSampleKernel.cpp (the tables of weights)
//
// The tables of indices and weights of an interpolation. The host computes them for the kernels of every device.
//
// Note [Interpolation]
//     All modes are linear and separable: in each dimension, pixel o of the output is a sum of pixels of the input,
//     out[o] = sum_k weight[o, k] in[index[o, k]], and an image is interpolated one dimension after the other. So a
//     mode is a table of indices and weights (Taps), and the loops over the pixels are the same for all modes. Backward
//     is the transpose: in[index[o, k]] += weight[o, k] out[o]. Dimensions that keep their size are left out only where
//     the weights are one. PyTorch has loops of its own for each mode, and sums some of them in another order.
#pragma once

#include <ATen/native/UpSample.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace reftorch::at::native::upsample {

// --- indices and weights of one dimension ----------------------------------------------------------------------------

// index, weight: (out, width)
template <typename T>
struct Taps {
  int64_t in, out, width;
  std::vector<int64_t> index;
  std::vector<T> weight;
};

// The number of pixels of the input for each pixel of the output, from the caller's scale if there is one.
template <typename T>
T pixels_each(int64_t in, int64_t out, std::optional<double> scale) {
  return scale.has_value() && *scale > 0 ? static_cast<T>(1.0 / *scale) : static_cast<T>(in) / static_cast<T>(out);
}

template <typename T>
T pixels_each(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  if (align_corners) {
    return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  }
  return pixels_each<T>(in, out, scale);
}

// The place of pixel o of the output in the input, where pixel i of the input lies at i.
template <typename T>
T place_of(T step, int64_t o, bool align_corners) {
  return align_corners ? step * static_cast<T>(o) : step * (static_cast<T>(o) + T(0.5)) - T(0.5);
}

// As in PyTorch, places of nearest neighbours are computed in float, whatever the dtype is.
inline int64_t nearest_index(int64_t o, int64_t in, int64_t out, std::optional<double> scale, bool exact) {
  const float step = pixels_each<float>(in, out, scale);
  const float place = (static_cast<float>(o) + (exact ? 0.5f : 0.f)) * step;
  return std::min(static_cast<int64_t>(std::floor(place)), in - 1);
}

// The cubic curve of Keys: the weight of a pixel at distance x.
template <typename T>
T cubic_weight(T x, T a) {
  x = std::fabs(x);
  if (x < T(1)) {
    return ((a + T(2)) * x - (a + T(3))) * x * x + T(1);
  }
  return x < T(2) ? (((x - T(5)) * x + T(8)) * x - T(4)) * a : T(0);
}

template <typename T>
T sinc(T x) {
  const T angle = static_cast<T>(3.14159265358979323846) * x;
  return x == T(0) ? T(1) : std::sin(angle) / angle;
}

// The filters of antialiasing, and how far they reach at scale 1.
template <typename T>
T filter_weight(UpSampleMode mode, T x) {
  switch (mode) {
    case UpSampleMode::LinearAA: return std::max(T(0), T(1) - std::fabs(x));
    case UpSampleMode::CubicAA: return cubic_weight(x, T(-0.5));
    default: return std::fabs(x) < T(3) ? sinc(x) * sinc(x / T(3)) : T(0);
  }
}

inline int64_t filter_reach(UpSampleMode mode) {
  return mode == UpSampleMode::LinearAA ? 1 : mode == UpSampleMode::CubicAA ? 2 : 3;
}

// A smaller output has wider pixels: the filter is stretched to the pixel of the output, and its weights add up to 1.
template <typename T>
void set_filter_taps(Taps<T>& taps, UpSampleMode mode, T step) {
  if (taps.in == taps.out) { // the caller's scale is not looked at, as in PyTorch
    for (int64_t o = 0; o < taps.out; o++) {
      taps.index.push_back(o);
      taps.weight.push_back(T(1));
    }
    return;
  }
  const T reach = static_cast<T>(filter_reach(mode)) * std::max(step, T(1));
  const T squeeze = step >= T(1) ? T(1) / step : T(1);
  taps.width = std::min(taps.in, static_cast<int64_t>(std::ceil(reach)) * 2 + 1);
  taps.index.assign(taps.out * taps.width, 0);
  taps.weight.assign(taps.out * taps.width, T(0));
  for (int64_t o = 0; o < taps.out; o++) {
    const T center = step * (static_cast<T>(o) + T(0.5));
    const int64_t first = std::max(static_cast<int64_t>(center - reach + T(0.5)), int64_t(0));
    const int64_t end = std::min(static_cast<int64_t>(center + reach + T(0.5)), taps.in);
    const int64_t count = std::max(std::min(end - first, taps.width), int64_t(0));
    T total = 0;
    for (int64_t k = 0; k < count; k++) {
      const T weight = filter_weight<T>(mode, (static_cast<T>(k + first) - center + T(0.5)) * squeeze);
      taps.index[o * taps.width + k] = first + k;
      taps.weight[o * taps.width + k] = weight;
      total += weight;
    }
    for (int64_t k = 0; k < count && total != T(0); k++) {
      taps.weight[o * taps.width + k] /= total;
    }
  }
}

template <typename T>
Taps<T> make_taps(int64_t in, int64_t out, const UpSampleOptions& options, size_t dim) {
  const UpSampleMode mode = options.mode;
  Taps<T> taps{in, out, 1, {}, {}};
  if (mode == UpSampleMode::Nearest || mode == UpSampleMode::NearestExact) {
    for (int64_t o = 0; o < out; o++) {
      taps.index.push_back(nearest_index(o, in, out, options.scales[dim], mode == UpSampleMode::NearestExact));
      taps.weight.push_back(T(1));
    }
    return taps;
  }
  const T step = pixels_each<T>(in, out, options.align_corners, options.scales[dim]);
  if (mode != UpSampleMode::Linear && mode != UpSampleMode::Cubic) {
    set_filter_taps(taps, mode, step);
    return taps;
  }
  taps.width = mode == UpSampleMode::Linear ? 2 : 4;
  for (int64_t o = 0; o < out; o++) {
    T place = place_of(step, o, options.align_corners);
    if (mode == UpSampleMode::Linear) { // (1 - t, t) of this pixel and the next
      place = std::max(in == out ? static_cast<T>(o) : place, T(0));
      const int64_t first = std::min(static_cast<int64_t>(place), in - 1);
      const T t = std::min(std::max(place - static_cast<T>(first), T(0)), T(1));
      taps.index.insert(taps.index.end(), {first, std::min(first + 1, in - 1)});
      taps.weight.insert(taps.weight.end(), {T(1) - t, t});
    } else { // the curve through the pixels at -1, 0, 1 and 2, where the border is repeated
      const int64_t first = std::min(static_cast<int64_t>(std::floor(place)), in - 1);
      const T t = std::min(std::max(place - static_cast<T>(first), T(0)), T(1));
      for (int64_t k = -1; k <= 2; k++) {
        taps.index.push_back(std::min(std::max(first + k, int64_t(0)), in - 1));
        taps.weight.push_back(cubic_weight<T>(t - static_cast<T>(k), T(-0.75)));
      }
    }
  }
  return taps;
}

// A uint8 image is interpolated in integers, as in PyTorch and Pillow: weights are rounded to multiples of
// 2^-precision, the sums of products are exact, and what each dimension gives is rounded to uint8.
struct IntegerTaps {
  Taps<int32_t> taps;
  int precision;
};

inline IntegerTaps in_integers(const Taps<double>& taps) {
  // Taps on the same pixel, beyond a border, are one tap. The last of them gets the sum of the weights.
  std::vector<double> weight = taps.weight;
  for (size_t i = 1; i < weight.size(); i++) {
    if (i % taps.width != 0 && taps.index[i] == taps.index[i - 1]) {
      weight[i] += weight[i - 1];
      weight[i - 1] = 0;
    }
  }
  // The largest precision with which every weight fits into 16 bits.
  const double largest = *std::max_element(weight.begin(), weight.end());
  int precision = 0;
  while (precision < 22 && static_cast<int>(0.5 + largest * (1 << (precision + 1))) < (1 << 15)) {
    precision++;
  }
  std::vector<int32_t> rounded;
  for (double w : weight) {
    rounded.push_back(static_cast<int32_t>(w * (1 << precision) + (w < 0 ? -0.5 : 0.5)));
  }
  return {{taps.in, taps.out, taps.width, taps.index, std::move(rounded)}, precision};
}

// --- the dimensions --------------------------------------------------------------------------------------------------

// One dimension of an interpolation, whose pixels are `inner` elements apart: from or to (outer, in, inner), to or from
// (outer, out, inner).
struct Step {
  size_t dim;
  int64_t in, out, outer, inner;
};

// The steps from the last dimension to the first, or, backward, from the first to the last. image: (N, C, *) and
// resized: (N, C, *) are the sizes before and after the interpolation.
inline std::vector<Step> steps_of(IntArrayRef image, IntArrayRef resized, bool is_backward) {
  const size_t dims = image.size() - 2;
  DimVector sizes(is_backward ? resized : image); // of what has been computed so far
  std::vector<Step> steps;
  for (size_t i = 0; i < dims; i++) {
    const size_t dim = is_backward ? i : dims - 1 - i;
    Step step{dim, image[dim + 2], resized[dim + 2], 1, 1};
    for (size_t d = 0; d < dims + 2; d++) {
      step.outer *= d < dim + 2 ? sizes[d] : 1;
      step.inner *= d > dim + 2 ? sizes[d] : 1;
    }
    sizes[dim + 2] = is_backward ? step.in : step.out;
    steps.push_back(step);
  }
  return steps;
}

} // namespace reftorch::at::native::upsample
