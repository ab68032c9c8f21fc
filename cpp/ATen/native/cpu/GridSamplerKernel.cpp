// Mirrors: aten/src/ATen/native/cpu/GridSamplerKernel.cpp, aten/src/ATen/native/GridSampler.h
//
// For each place, the kernel finds a few pixels in each dimension and their weights (Taps); the value is the sum over
// all combinations. An image of two dimensions is an image of three whose depth is one pixel. With the weights stand
// their derivatives by the coordinate in the grid, so backward is the same loop.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/GridSampler.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

using Interpolation = GridSamplerInterpolation;
using Padding = GridSamplerPadding;

// A place in one dimension of the input and its derivative by the coordinate in the grid.
template <typename T>
struct Place {
  T x, slope;
};

// The pixels of one dimension that a place reads: index (-1 for a pixel outside, which is zero), weight, and derivative
// of the weight by the coordinate in the grid.
template <typename T>
struct Taps {
  int64_t count;
  int64_t index[4];
  T weight[4], slope[4];

  void add(int64_t i, int64_t size, T w, T s) {
    index[count] = i >= 0 && i < size ? i : -1;
    weight[count] = w;
    slope[count] = s;
    count++;
  }
};

// -1 and 1 in the grid are the ends of the input.
template <typename T>
Place<T> unnormalized(T coordinate, int64_t size, bool align_corners) {
  const T n = static_cast<T>(size);
  return align_corners ? Place<T>{(coordinate + 1) / 2 * (n - 1), (n - 1) / 2}
                       : Place<T>{((coordinate + 1) * n - 1) / 2, n / 2};
}

template <typename T>
Place<T> clipped(Place<T> p, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(p.x > 0)) { // NaN too
    return {0, 0};
  }
  return p.x >= last ? Place<T>{last, 0} : p;
}

// Mirrors the line at both ends, as often as needed: at the middles of the outer pixels, or at their borders.
template <typename T>
Place<T> reflected(Place<T> p, int64_t size, bool align_corners) {
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
Place<T> padded(Place<T> p, int64_t size, const GridSamplerOptions& options) {
  if (options.padding == Padding::Border) {
    return clipped(p, size);
  }
  return options.padding == Padding::Reflection ? clipped(reflected(p, size, options.align_corners), size) : p;
}

// A number that is no index of any image becomes one that lies outside.
template <typename T>
T in_range_of_int(T x) {
  return std::isfinite(x) && std::fabs(x) < T(std::numeric_limits<int32_t>::max() - 1) ? x : T(-100);
}

// The cubic curve of Keys with a = -0.75, and its derivative, at distance x.
template <typename T>
T cubic(T x) {
  const T a = -0.75;
  x = std::fabs(x);
  return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * a;
}
template <typename T>
T cubic_slope(T x) {
  const T a = -0.75, d = std::fabs(x);
  const T slope = d < 1 ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
  return x < 0 ? -slope : slope;
}

template <typename T>
Taps<T> make_taps(T coordinate, int64_t size, const GridSamplerOptions& options) {
  Taps<T> taps{};
  const Place<T> free = unnormalized(coordinate, size, options.align_corners);
  if (options.interpolation == Interpolation::Bicubic) { // each pixel is padded for itself
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
  p.x = in_range_of_int(p.x);
  if (options.interpolation == Interpolation::Nearest) {
    taps.add(static_cast<int64_t>(std::nearbyint(p.x)), size, 1, 0);
    return taps;
  }
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

Sizes sizes_of(const Tensor& input, const Tensor& grid) {
  const IntArrayRef s = input.sizes();
  const int64_t dims = input.dim() - 2, N = s[0];
  return {N, s[1], dims == 3 ? s[2] : 1, s[s.size() - 2], s[s.size() - 1], N == 0 ? 0 : grid.numel() / N / dims, dims};
}

// The pixels around one place of the grid, which holds x, y and perhaps z.
template <typename T>
struct Around {
  Taps<T> x, y, z;

  Around(const T* place, const Sizes& sizes, const GridSamplerOptions& options)
      : x(make_taps(place[0], sizes.W, options)), y(make_taps(place[1], sizes.H, options)), z{} {
    if (sizes.dims == 3) {
      z = make_taps(place[2], sizes.D, options);
    } else {
      z.add(0, 1, 1, 0);
    }
  }

  // Calls f(pixel, i, j, k) for each pixel that lies in the input, where i, j, k are the places in z, y, x.
  template <typename F>
  void for_each(const Sizes& sizes, const F& f) const {
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

// input: (N, C, D H W); grid: (N, places, dims); output: (N, C, places)
template <typename T>
void grid_sampler_image(T* output, const T* input, const T* grid, int64_t n, const Sizes& s,
                        const GridSamplerOptions& options) {
  const int64_t pixels = s.D * s.H * s.W;
  for (int64_t o = 0; o < s.places; o++) {
    const Around<T> around(grid + (n * s.places + o) * s.dims, s, options);
    for (int64_t c = 0; c < s.C; c++) {
      const T* image = input + (n * s.C + c) * pixels;
      T sum = 0;
      around.for_each(s, [&](int64_t pixel, int64_t i, int64_t j, int64_t k) {
        sum += image[pixel] * (around.z.weight[i] * around.y.weight[j] * around.x.weight[k]);
      });
      output[(n * s.C + c) * s.places + o] = sum;
    }
  }
}

// grad_input: (N, C, D H W) or null; grad_grid: (N, places, dims); grad_output: (N, C, places)
template <typename T>
void grid_sampler_image_backward(T* grad_input, T* grad_grid, const T* grad_output, const T* input, const T* grid,
                                 int64_t n, const Sizes& s, const GridSamplerOptions& options) {
  const int64_t pixels = s.D * s.H * s.W;
  for (int64_t o = 0; o < s.places; o++) {
    const int64_t place = (n * s.places + o) * s.dims;
    const Around<T> around(grid + place, s, options);
    const Taps<T>&x = around.x, &y = around.y, &z = around.z;
    T by_x = 0, by_y = 0, by_z = 0;
    for (int64_t c = 0; c < s.C; c++) {
      const T grad = grad_output[(n * s.C + c) * s.places + o];
      const int64_t image = (n * s.C + c) * pixels;
      around.for_each(s, [&](int64_t pixel, int64_t i, int64_t j, int64_t k) {
        const T product = grad * input[image + pixel];
        by_x += product * (z.weight[i] * y.weight[j] * x.slope[k]);
        by_y += product * (z.weight[i] * y.slope[j] * x.weight[k]);
        by_z += product * (z.slope[i] * y.weight[j] * x.weight[k]);
        if (grad_input != nullptr) {
          grad_input[image + pixel] += grad * (z.weight[i] * y.weight[j] * x.weight[k]);
        }
      });
    }
    grad_grid[place] = by_x;
    grad_grid[place + 1] = by_y;
    if (s.dims == 3) {
      grad_grid[place + 2] = by_z;
    }
  }
}

void grid_sampler_kernel(const Tensor& output, const Tensor& input, const Tensor& grid,
                         const GridSamplerOptions& options) {
  const Sizes sizes = sizes_of(input, grid);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "grid_sampler_cpu", [&] {
    parallel_for(0, sizes.N, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t n = lo; n < hi; n++) {
        grid_sampler_image(output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(), n, sizes,
                           options);
      }
    });
  });
}

void grid_sampler_backward_kernel(const Tensor& grad_input, const Tensor& grad_grid, const Tensor& grad_output,
                                  const Tensor& input, const Tensor& grid, const GridSamplerOptions& options) {
  const Sizes sizes = sizes_of(input, grid);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "grid_sampler_backward_cpu", [&] {
    scalar_t* to_input = grad_input.defined() ? grad_input.data_ptr<scalar_t>() : nullptr;
    parallel_for(0, sizes.N, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t n = lo; n < hi; n++) {
        grid_sampler_image_backward(to_input, grad_grid.data_ptr<scalar_t>(), grad_output.data_ptr<scalar_t>(),
                                    input.data_ptr<scalar_t>(), grid.data_ptr<scalar_t>(), n, sizes, options);
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(grid_sampler_stub, grid_sampler_kernel)
REGISTER_CPU_DISPATCH(grid_sampler_backward_stub, grid_sampler_backward_kernel)

} // namespace reftorch::at::native
