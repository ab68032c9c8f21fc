// Mirrors: aten/src/ATen/native/GridSampler.h, aten/src/ATen/native/cuda/GridSampler.cuh
//
// The arithmetic of one place of the grid, which the kernels of the CPU and of CUDA share. For each place, a few pixels
// in each dimension have weights (Taps); the value is the sum over all combinations. An image of two dimensions is an
// image of three whose depth is one pixel. Taps also holds the derivative of each weight by the coordinate in the grid,
// so the backward is the same loop.
#pragma once

#include <ATen/native/GridSampler.h>
#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native::grid_sample {

// A place in one dimension of the input and its derivative by the coordinate in the grid.
template <typename T>
struct Place {
  T x, slope;
};

// The pixels of one dimension that a place reads: index (-1 for a pixel outside, which is zero), weight, and derivative
// of the weight by the coordinate in the grid.
//
// A place that is NaN or infinite reads no pixel. `lost` and `lost_slope` are NaN where the value and the derivative at
// such a place are to show that, and 0 everywhere else. This is what PyTorch does: in images of two dimensions, linear
// and cubic interpolation show it, and all other calls take the place for one outside of the image.
template <typename T>
struct Taps {
  int64_t count;
  int64_t index[4];
  T weight[4], slope[4];
  T lost, lost_slope;

  C10_HOST_DEVICE void add(int64_t i, int64_t size, T w, T s) {
    index[count] = i >= 0 && i < size ? i : -1;
    weight[count] = w;
    slope[count] = s;
    count++;
  }
};

// -1 and 1 in the grid are the ends of the input.
template <typename T>
C10_HOST_DEVICE Place<T> unnormalized(T coordinate, int64_t size, bool align_corners) {
  const T n = static_cast<T>(size);
  return align_corners ? Place<T>{(coordinate + 1) / 2 * (n - 1), (n - 1) / 2}
                       : Place<T>{(coordinate + 1) * (n / 2) - T(0.5), n / 2};
}

template <typename T>
C10_HOST_DEVICE Place<T> clipped(Place<T> p, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(p.x > 0)) { // NaN too
    return {0, 0};
  }
  return p.x >= last ? Place<T>{last, 0} : p;
}

// Mirrors the line at both ends, as often as needed: at the middles of the outer pixels, or at their borders.
template <typename T>
C10_HOST_DEVICE Place<T> reflected(Place<T> p, int64_t size, bool align_corners) {
  const T low = align_corners ? T(0) : T(-0.5), span = static_cast<T>(align_corners ? size - 1 : size);
  if (span <= 0) {
    return {0, 0};
  }
  const T distance = std::fabs(p.x - low);
  const T rest = std::fmod(distance, span);
  const bool is_even = static_cast<int64_t>(std::floor(distance / span)) % 2 == 0;
  const T sign = (p.x < low) == is_even ? T(-1) : T(1);
  return {is_even ? rest + low : span - rest + low, sign * p.slope};
}

template <typename T>
C10_HOST_DEVICE Place<T> padded(Place<T> p, int64_t size, const GridSamplerOptions& options) {
  if (options.padding == GridSamplerPadding::Border) {
    return clipped(p, size);
  }
  return options.padding == GridSamplerPadding::Reflection ? clipped(reflected(p, size, options.align_corners), size)
                                                           : p;
}

// Returns x, or a number outside of every image if x (NaN, infinity, a huge number) does not fit an int.
template <typename T>
C10_HOST_DEVICE T in_range_of_int(T x) {
  return std::isfinite(x) && std::fabs(x) < T(std::numeric_limits<int32_t>::max() - 1) ? x : T(-100);
}

// The cubic curve of Keys with a = -0.75, and its derivative, at distance x.
template <typename T>
C10_HOST_DEVICE T cubic(T x) {
  const T a = -0.75;
  x = std::fabs(x);
  return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * a;
}
template <typename T>
C10_HOST_DEVICE T cubic_slope(T x) {
  const T a = -0.75, d = std::fabs(x);
  const T slope = d < 1 ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
  return x < 0 ? -slope : slope;
}

template <typename T>
C10_HOST_DEVICE Taps<T> make_taps(T coordinate, int64_t size, int64_t dims, const GridSamplerOptions& options) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  Taps<T> taps{};
  const Place<T> free = unnormalized(coordinate, size, options.align_corners);
  if (options.interpolation == GridSamplerInterpolation::Bicubic) { // each pixel is padded for itself
    taps.lost = taps.lost_slope = std::isfinite(free.x) ? T(0) : kNan;
    const T first = std::floor(free.x);
    const T t = free.x - first;
    for (int64_t k = -1; k <= 2; k++) {
      const T i = padded(Place<T>{first + static_cast<T>(k), 1}, size, options).x;
      const T distance = t - static_cast<T>(k);
      taps.add(static_cast<int64_t>(in_range_of_int(i)), size, cubic(distance), cubic_slope(distance) * free.slope);
    }
    return taps;
  }
  Place<T> p = padded(free, size, options);
  const bool is_lost = !std::isfinite(p.x);
  p.x = in_range_of_int(p.x);
  if (options.interpolation == GridSamplerInterpolation::Nearest) {
    taps.add(static_cast<int64_t>(std::nearbyint(p.x)), size, 1, 0);
    return taps;
  }
  taps.lost = is_lost && dims == 2 ? kNan : T(0);
  const T first = std::floor(p.x);
  const T t = p.x - first;
  taps.add(static_cast<int64_t>(first), size, 1 - t, -p.slope);
  taps.add(static_cast<int64_t>(first) + 1, size, t, p.slope);
  return taps;
}

// The sizes of a call. An image of two dimensions has depth 1.
struct Sizes {
  int64_t N, C, D, H, W; // of the input
  int64_t places, dims;  // for each image of the batch, and numbers in a place
};

inline Sizes sizes_of(const Tensor& input, const Tensor& grid) {
  const IntArrayRef s = input.sizes();
  const int64_t dims = input.dim() - 2, N = s[0];
  return {N, s[1], dims == 3 ? s[2] : 1, s[s.size() - 2], s[s.size() - 1], N == 0 ? 0 : grid.numel() / N / dims, dims};
}

// The pixels around one place of the grid, which holds x, y and perhaps z.
template <typename T>
struct Around {
  Taps<T> x, y, z;

  C10_HOST_DEVICE Around(const T* place, const Sizes& sizes, const GridSamplerOptions& options)
      : x(make_taps(place[0], sizes.W, sizes.dims, options)),
        y(make_taps(place[1], sizes.H, sizes.dims, options)),
        z{} {
    if (sizes.dims == 3) {
      z = make_taps(place[2], sizes.D, sizes.dims, options);
    } else {
      z.add(0, 1, 1, 0);
    }
  }

  // Calls f(pixel, i, j, k) for each pixel that lies in the input, where i, j, k are the places in z, y, x.
  template <typename F>
  C10_HOST_DEVICE void for_each(const Sizes& sizes, const F& f) const {
    for (int64_t i = 0; i < z.count; i++) {
      for (int64_t j = 0; j < y.count; j++) {
        for (int64_t k = 0; k < x.count; k++) {
          if (z.index[i] >= 0 && y.index[j] >= 0 && x.index[k] >= 0) {
            f((z.index[i] * sizes.H + y.index[j]) * sizes.W + x.index[k], i, j, k);
          }
        }
      }
    }
  }
};

// Adds up the pixels around place o of image n, for each channel. input: (N, C, D H W); grid: (N, places, dims);
// output: (N, C, places)
template <typename T>
C10_HOST_DEVICE void sample_place(T* output, const T* input, const T* grid, int64_t n, int64_t o, const Sizes& s,
                                  const GridSamplerOptions& options) {
  const int64_t pixels = s.D * s.H * s.W;
  const Around<T> around(grid + (n * s.places + o) * s.dims, s, options);
  for (int64_t c = 0; c < s.C; c++) {
    const T* image = input + (n * s.C + c) * pixels;
    T sum = around.x.lost + around.y.lost;
    around.for_each(s, [&](int64_t pixel, int64_t i, int64_t j, int64_t k) {
      sum += image[pixel] * (around.z.weight[i] * around.y.weight[j] * around.x.weight[k]);
    });
    output[(n * s.C + c) * s.places + o] = sum;
  }
}

// The gradients of place o of image n. grad_input: (N, C, D H W) or null; grad_grid: (N, places, dims); grad_output:
// (N, C, places). add(element, value) adds to an element of grad_input, which several places may read.
template <typename T, typename Add>
C10_HOST_DEVICE void sample_place_backward(T* grad_input, T* grad_grid, const T* grad_output, const T* input,
                                           const T* grid, int64_t n, int64_t o, const Sizes& s,
                                           const GridSamplerOptions& options, const Add& add) {
  const int64_t pixels = s.D * s.H * s.W, place = (n * s.places + o) * s.dims;
  const Around<T> around(grid + place, s, options);
  const Taps<T>&x = around.x, &y = around.y, &z = around.z;
  T by_x = x.lost_slope + y.lost, by_y = x.lost + y.lost_slope, by_z = 0;
  for (int64_t c = 0; c < s.C; c++) {
    const T grad = grad_output[(n * s.C + c) * s.places + o];
    const int64_t image = (n * s.C + c) * pixels;
    around.for_each(s, [&](int64_t pixel, int64_t i, int64_t j, int64_t k) {
      const T product = grad * input[image + pixel];
      by_x += product * (z.weight[i] * y.weight[j] * x.slope[k]);
      by_y += product * (z.weight[i] * y.slope[j] * x.weight[k]);
      by_z += product * (z.slope[i] * y.weight[j] * x.weight[k]);
      if (grad_input != nullptr) {
        add(grad_input + image + pixel, grad * (z.weight[i] * y.weight[j] * x.weight[k]));
      }
    });
  }
  grad_grid[place] = by_x;
  grad_grid[place + 1] = by_y;
  if (s.dims == 3) {
    grad_grid[place + 2] = by_z;
  }
}

} // namespace reftorch::at::native::grid_sample
