// Mirrors: aten/src/ATen/native/cpu/UpSampleKernel.cpp
//
// The loops over the pixels. See Note [Interpolation] in UpSampleTaps.h.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/UpSampleTaps.h>

#include <type_traits>

namespace reftorch::at::native {
namespace {

// The number of rows of `size` elements that are worth a thread of their own.
int64_t grain_of(int64_t size) {
  return std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(size, 1));
}

// in: (outer, taps.in, inner); out: (outer, taps.out, inner)
template <typename scalar_t, typename T>
void interpolate(scalar_t* out, const scalar_t* in, const upsample::Taps<T>& taps, int64_t outer, int64_t inner) {
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

// in: (outer, taps.in, inner); out: (outer, taps.out, inner)
void interpolate_in_integers(uint8_t* out, const uint8_t* in, const upsample::Taps<double>& weights, int64_t outer,
                             int64_t inner) {
  const upsample::IntegerTaps whole = upsample::in_integers(weights);
  const upsample::Taps<int32_t>& taps = whole.taps;
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
void interpolate_backward(scalar_t* in, const scalar_t* out, const upsample::Taps<T>& taps, int64_t outer,
                          int64_t inner) {
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
  const Tensor& first = is_backward ? resized : image;
  const Tensor& last = is_backward ? image : resized;
  const std::vector<upsample::Step> steps = upsample::steps_of(image.sizes(), resized.sizes(), is_backward);
  std::vector<scalar_t> current, next;
  const scalar_t* from = first.data_ptr<scalar_t>();
  for (size_t i = 0; i < steps.size(); i++) {
    const auto [dim, in, out, outer, inner] = steps[i];
    const upsample::Taps<T> taps = upsample::make_taps<T>(in, out, options, dim);
    scalar_t* to = last.data_ptr<scalar_t>();
    if (i + 1 < steps.size()) {
      next.resize(static_cast<size_t>(outer * (is_backward ? in : out) * inner));
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
    using types = FloatingTypesAndReduced::And<uint8_t>;
    dispatch<types>(input.scalar_type(), "compute_indices_weights_nearest", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      all_dimensions<scalar_t, float>(input, output, options, false);
    });
    return;
  }
  if (input.scalar_type() == kByte && options.scales.size() == 2) { // images alone, as in PyTorch
    all_dimensions<uint8_t, double>(input, output, options, false);
    return;
  }
  dispatch<FloatingTypes>(input.scalar_type(), "compute_indices_weights_linear", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    all_dimensions<scalar_t, scalar_t>(input, output, options, false);
  });
}

void upsample_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const UpSampleOptions& options) {
  dispatch<FloatingTypes>(grad_output.scalar_type(), "upsample_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    all_dimensions<scalar_t, scalar_t>(grad_input, grad_output, options, true);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(upsample_stub, upsample_kernel)
REGISTER_CPU_DISPATCH(upsample_backward_stub, upsample_backward_kernel)

} // namespace reftorch::at::native
