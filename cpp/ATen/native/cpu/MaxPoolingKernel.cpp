// Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp, aten/src/ATen/native/cpu/AdaptiveMaxPoolKernel.cpp,
// aten/src/ATen/native/cpu/MaxUnpoolKernel.cpp, aten/src/ATen/native/FractionalMaxPool2d.cpp
//
// Each kernel runs over planes of pixels, and the threads share the planes. Left out: loops of their own for tensors
// whose channels lie last in memory.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/cpu/MaxPoolRows.h>

namespace reftorch::at::native {
namespace {

// The work for one plane, in elements that are read.
int64_t work_of_plane(const PoolShape& s) {
  return std::max(s.input_pixels(), s.output_pixels());
}

// output, indices (planes, *output), input (planes, *input)
void max_pool_kernel(const Tensor& output, const Tensor& indices, const Tensor& input, const PoolShape& s) {
  const PoolWindows windows = windows_of(s);
  const auto run = [&](auto* y, const auto* x) {
    int64_t* places = indices.data_ptr<int64_t>();
    parallel_for(0, s.planes, grain_of(work_of_plane(s)), [&](int64_t lo, int64_t hi) {
      const int64_t out = lo * s.output_pixels();
      max_pool::planes(y + out, places + out, x + lo * s.input_pixels(), hi - lo, s, windows);
    });
  };
  if (s.adaptive) {
    dispatch<FloatingTypesAndReduced>(input.scalar_type(), "adaptive_max_pool2d", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      run(output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>());
    });
  } else {
    dispatch<AllNumbers>(input.scalar_type(), "max_pool2d", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      run(output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>());
    });
  }
}

template <typename opmath_t>
std::vector<PoolWindow> fractional_windows(const PoolShape& s, int d, opmath_t sample) {
  std::vector<PoolWindow> windows(static_cast<size_t>(s.output[d]));
  for (int64_t o = 0; o < s.output[d]; o++) {
    windows[o] = s.fractional_window(d, o, sample);
  }
  return windows;
}

// random_samples (planes, dims): for two dimensions of the width, then of the height; for three of depth, height, width
void fractional_max_pool_kernel(const Tensor& output, const Tensor& indices, const Tensor& input,
                                const Tensor& random_samples, const PoolShape& s) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "fractional_max_pool_out_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const int64_t dims = random_samples.sizes()[2];
    const scalar_t *x = input.data_ptr<scalar_t>(), *samples = random_samples.data_ptr<scalar_t>();
    scalar_t* y = output.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    parallel_for(0, s.planes, grain_of(work_of_plane(s)), [&](int64_t lo, int64_t hi) {
      for (int64_t p = lo; p < hi; p++) {
        const scalar_t* sample = samples + p * dims;
        PoolWindows windows;
        windows[0] = dims == 3 ? fractional_windows(s, 0, opmath_t(sample[0])) : windows_along(s, 0, false);
        windows[1] = fractional_windows(s, 1, opmath_t(sample[1]));
        windows[2] = fractional_windows(s, 2, opmath_t(sample[dims == 3 ? 2 : 0]));
        max_pool::plane_naive(y + p * s.output_pixels(), places + p * s.output_pixels(), x + p * s.input_pixels(), s,
                              windows);
      }
    });
  });
}

// Calls f(to, from) for each element of `from` and the element of `to` at its index; `to` is filled with zeros first.
template <typename scalar_t, typename F>
void each_at_its_place(const Tensor& to, const Tensor& from, const Tensor& indices, const PoolShape& s, const F& f) {
  const int64_t to_pixels = s.input_pixels(), from_pixels = s.output_pixels();
  scalar_t* targets = to.data_ptr<scalar_t>();
  const scalar_t* values = from.data_ptr<scalar_t>();
  const int64_t* places = indices.data_ptr<int64_t>();
  parallel_for(0, s.planes, grain_of(std::max(to_pixels, from_pixels)), [&](int64_t lo, int64_t hi) {
    std::fill(targets + lo * to_pixels, targets + hi * to_pixels, scalar_t(0));
    for (int64_t p = lo; p < hi; p++) {
      for (int64_t i = p * from_pixels; i < (p + 1) * from_pixels; i++) {
        if (places[i] < 0 || places[i] >= to_pixels) {
          std::ostringstream size;
          size << (s.input[0] == 1 ? "" : std::to_string(s.input[0]) + "x") << s.input[1] << "x" << s.input[2];
          TORCH_CHECK(false, "Found an invalid max index: ", places[i], " (output volumes are of size ", size.str(),
                      ")");
        }
        f(targets[p * to_pixels + places[i]], values[i]);
      }
    }
  });
}

void max_pool_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& indices,
                              const PoolShape& s) {
  dispatch<AllNumbers>(grad_input.scalar_type(), "max_pool2d_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    each_at_its_place<scalar_t>(grad_input, grad_output, indices, s, [](scalar_t& to, scalar_t from) {
      to = static_cast<scalar_t>(opmath_t(to) + opmath_t(from));
    });
  });
}

void max_unpool_kernel(const Tensor& output, const Tensor& input, const Tensor& indices, const PoolShape& s) {
  dispatch<AllNumbers>(output.scalar_type(), "max_unpool", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    each_at_its_place<scalar_t>(output, input, indices, s, [](scalar_t& to, scalar_t from) { to = from; });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(max_pool_stub, max_pool_kernel)
REGISTER_CPU_DISPATCH(fractional_max_pool_stub, fractional_max_pool_kernel)
REGISTER_CPU_DISPATCH(max_pool_backward_stub, max_pool_backward_kernel)
REGISTER_CPU_DISPATCH(max_unpool_stub, max_unpool_kernel)

} // namespace reftorch::at::native
