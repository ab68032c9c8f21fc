// Mirrors: aten/src/ATen/native/cpu/UpSampleKernel.cpp
//
// Note [Interpolation]
//     All modes are linear and separable: in each dimension, pixel o of the output is a sum of pixels of the input,
//     out[o] = sum_k weight[o, k] in[index[o, k]], and an image is interpolated one dimension after the other. So a
//     mode is a table of indices and weights (Taps), and the loops over the pixels are the same for all modes. Backward
//     is the transpose: in[index[o, k]] += weight[o, k] out[o]. Dimensions that keep their size are left out only where
//     the weights are one. PyTorch has loops of its own for each mode, and sums some of them in another order.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/UpSample.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace reftorch::at::native {
namespace {

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
int64_t nearest_index(int64_t o, int64_t in, int64_t out, std::optional<double> scale, bool exact) {
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

int64_t filter_reach(UpSampleMode mode) {
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

// --- the loops over the pixels ---------------------------------------------------------------------------------------

// The number of rows of `size` elements that are worth a thread of their own.
int64_t grain_of(int64_t size) {
  return std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(size, 1));
}

// in: (outer, taps.in, inner); out: (outer, taps.out, inner)
template <typename scalar_t, typename T>
void interpolate(scalar_t* out, const scalar_t* in, const Taps<T>& taps, int64_t outer, int64_t inner) {
  parallel_for(0, outer, grain_of(taps.out * taps.width * inner), [&](int64_t lo, int64_t hi) {
    for (int64_t a = lo; a < hi; a++) {
      for (int64_t o = 0; o < taps.out; o++) {
        scalar_t* row = out + (a * taps.out + o) * inner;
        for (int64_t k = 0; k < taps.width; k++) {
          const scalar_t* from = in + (a * taps.in + taps.index[o * taps.width + k]) * inner;
          const T weight = taps.weight[o * taps.width + k];
          if (taps.width == 1) {
            std::copy(from, from + inner, row);
          } else if (k == 0) {
            for (int64_t b = 0; b < inner; b++) {
              row[b] = static_cast<scalar_t>(weight * static_cast<T>(from[b]));
            }
          } else {
            for (int64_t b = 0; b < inner; b++) {
              row[b] += static_cast<scalar_t>(weight * static_cast<T>(from[b]));
            }
          }
        }
      }
    }
  });
}

// A uint8 image is interpolated in integers, as in PyTorch and Pillow: weights are rounded to multiples of
// 2^-precision, the sums of products are exact, and what each dimension gives is rounded to uint8.
struct IntegerTaps {
  Taps<int32_t> taps;
  int precision;
};

IntegerTaps in_integers(const Taps<double>& taps) {
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

// in: (outer, taps.in, inner); out: (outer, taps.out, inner)
void interpolate_in_integers(uint8_t* out, const uint8_t* in, const Taps<double>& weights, int64_t outer,
                             int64_t inner) {
  const IntegerTaps whole = in_integers(weights);
  const Taps<int32_t>& taps = whole.taps;
  const int32_t half = (1 << whole.precision) / 2; // so that the shift rounds to the nearest
  parallel_for(0, outer, grain_of(taps.out * taps.width * inner), [&](int64_t lo, int64_t hi) {
    for (int64_t a = lo; a < hi; a++) {
      for (int64_t o = 0; o < taps.out; o++) {
        for (int64_t b = 0; b < inner; b++) {
          int32_t sum = half;
          for (int64_t k = o * taps.width; k < (o + 1) * taps.width; k++) {
            sum += taps.weight[k] * in[(a * taps.in + taps.index[k]) * inner + b];
          }
          out[(a * taps.out + o) * inner + b] = static_cast<uint8_t>(std::clamp(sum >> whole.precision, 0, 255));
        }
      }
    }
  });
}

// The transpose. in: (outer, taps.in, inner); out: (outer, taps.out, inner)
template <typename scalar_t, typename T>
void interpolate_backward(scalar_t* in, const scalar_t* out, const Taps<T>& taps, int64_t outer, int64_t inner) {
  parallel_for(0, outer, grain_of(taps.out * taps.width * inner), [&](int64_t lo, int64_t hi) {
    std::fill(in + lo * taps.in * inner, in + hi * taps.in * inner, scalar_t(0));
    for (int64_t a = lo; a < hi; a++) {
      for (int64_t o = 0; o < taps.out; o++) {
        const scalar_t* row = out + (a * taps.out + o) * inner;
        for (int64_t k = 0; k < taps.width; k++) {
          scalar_t* to = in + (a * taps.in + taps.index[o * taps.width + k]) * inner;
          const T weight = taps.weight[o * taps.width + k];
          for (int64_t b = 0; b < inner; b++) {
            to[b] += static_cast<scalar_t>(weight * static_cast<T>(row[b]));
          }
        }
      }
    }
  });
}

// Interpolates one dimension after the other, from the last to the first; backward goes the other way. `step` computes
// from (outer, taps.in, inner) or to it.
template <typename scalar_t, typename T>
void all_dimensions(const Tensor& image, const Tensor& resized, const UpSampleOptions& options, bool is_backward) {
  const size_t dims = options.scales.size();
  DimVector sizes(is_backward ? resized.sizes() : image.sizes()); // of what has been computed so far
  const Tensor& first = is_backward ? resized : image;
  const Tensor& last = is_backward ? image : resized;
  std::vector<scalar_t> current, next;
  const scalar_t* from = first.data_ptr<scalar_t>();
  for (size_t i = 0; i < dims; i++) {
    const size_t dim = is_backward ? i : dims - 1 - i;
    const int64_t in = image.sizes()[dim + 2], out = resized.sizes()[dim + 2];
    const Taps<T> taps = make_taps<T>(in, out, options, dim);
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < dims + 2; d++) {
      outer *= d < dim + 2 ? sizes[d] : 1;
      inner *= d > dim + 2 ? sizes[d] : 1;
    }
    sizes[dim + 2] = is_backward ? in : out;
    scalar_t* to = last.data_ptr<scalar_t>();
    if (i + 1 < dims) {
      next.resize(static_cast<size_t>(outer * sizes[dim + 2] * inner));
      to = next.data();
    }
    if (is_backward) {
      interpolate_backward<scalar_t, T>(to, from, taps, outer, inner);
    } else if constexpr (std::is_same_v<scalar_t, uint8_t> && std::is_same_v<T, double>) {
      interpolate_in_integers(to, from, taps, outer, inner);
    } else {
      interpolate<scalar_t, T>(to, from, taps, outer, inner);
    }
    std::swap(current, next);
    from = current.data();
  }
}

void upsample_kernel(const Tensor& output, const Tensor& input, const UpSampleOptions& options) {
  if (options.mode == UpSampleMode::Nearest || options.mode == UpSampleMode::NearestExact) {
    AT_DISPATCH_SWITCH(
        input.scalar_type(), "compute_indices_weights_nearest",
        AT_DISPATCH_CASE_FLOATING([&] { all_dimensions<scalar_t, float>(input, output, options, false); })
            AT_DISPATCH_CASE_REDUCED_FLOATING([&] { all_dimensions<scalar_t, float>(input, output, options, false); })
                AT_DISPATCH_CASE_TYPE(Byte, [&] { all_dimensions<scalar_t, float>(input, output, options, false); }));
    return;
  }
  if (input.scalar_type() == kByte && options.scales.size() == 2) { // images alone, as in PyTorch
    all_dimensions<uint8_t, double>(input, output, options, false);
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "compute_indices_weights_linear",
                             [&] { all_dimensions<scalar_t, scalar_t>(input, output, options, false); });
}

void upsample_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const UpSampleOptions& options) {
  AT_DISPATCH_FLOATING_TYPES(grad_output.scalar_type(), "upsample_backward",
                             [&] { all_dimensions<scalar_t, scalar_t>(grad_input, grad_output, options, true); });
}

} // namespace

REGISTER_CPU_DISPATCH(upsample_stub, upsample_kernel)
REGISTER_CPU_DISPATCH(upsample_backward_stub, upsample_backward_kernel)

} // namespace reftorch::at::native
