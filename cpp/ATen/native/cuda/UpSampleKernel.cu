// Mirrors: aten/src/ATen/native/cuda/UpSampleNearest2d.cu, aten/src/ATen/native/cuda/UpSampleBilinear2d.cu and kin
//
// One dimension after the other (Note [Interpolation] in UpSampleTaps.h): the host computes the table of indices and
// weights of a dimension and copies the table to the device; each element of the output has a thread. In the backward,
// each column of pixels has a thread, because several pixels of the output add to one pixel of the input.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/native/UpSampleTaps.h>

#include <ATen/native/cuda/KernelUtils.cuh>

#include <algorithm>
#include <type_traits>

namespace reftorch::at::native {
namespace {

template <typename T>
Tensor on_device(const std::vector<T>& numbers, c10::Device device) {
  const Tensor host = detail::empty_generic({static_cast<int64_t>(numbers.size())}, c10::CppTypeToScalarType<T>::value,
                                            c10::Device(c10::DeviceType::CPU));
  std::copy(numbers.begin(), numbers.end(), host.data_ptr<T>());
  return at::_to_copy(host, host.scalar_type(), device);
}

// Taps for the device. index, weight: (out, width); `tables` owns them.
template <typename T>
struct DeviceTaps {
  int64_t in, out, width, inner;
  const int64_t* index;
  const T* weight;
};

template <typename T>
struct TapTables {
  Tensor index, weight;

  TapTables(const upsample::Taps<T>& taps, c10::Device device)
      : index(on_device(taps.index, device)), weight(on_device(taps.weight, device)) {}
  DeviceTaps<T> taps(const upsample::Taps<T>& taps, int64_t inner) const {
    return {taps.in, taps.out, taps.width, inner, index.data_ptr<int64_t>(), weight.data_ptr<T>()};
  }
};

// out: (outer, taps.out, inner), in: (outer, taps.in, inner)
template <typename scalar_t, typename T>
__global__ void interpolate_kernel(scalar_t* out, const scalar_t* in, DeviceTaps<T> taps, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t outer = i / taps.inner / taps.out, o = i / taps.inner % taps.out;
    const scalar_t* from = in + outer * taps.in * taps.inner + i % taps.inner;
    const int64_t* index = taps.index + o * taps.width;
    if (taps.width == 1) {
      out[i] = from[*index * taps.inner];
      continue;
    }
    T sum = 0;
    for (int64_t k = 0; k < taps.width; k++) {
      sum += taps.weight[o * taps.width + k] * static_cast<T>(from[index[k] * taps.inner]);
    }
    out[i] = static_cast<scalar_t>(sum);
  }
}

// The same for images of uint8, whose weights are multiples of 2^-precision.
__global__ void interpolate_in_integers_kernel(uint8_t* out, const uint8_t* in, DeviceTaps<int32_t> taps, int precision,
                                               int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t outer = i / taps.inner / taps.out, o = i / taps.inner % taps.out;
    const uint8_t* from = in + outer * taps.in * taps.inner + i % taps.inner;
    int32_t sum = (1 << precision) / 2; // so that the shift rounds to the nearest
    for (int64_t k = o * taps.width; k < (o + 1) * taps.width; k++) {
      sum += taps.weight[k] * from[taps.index[k] * taps.inner];
    }
    sum >>= precision;
    out[i] = static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }
}

// The transpose of interpolate_kernel: in[index] += weight out. n: the number of columns, outer * inner.
template <typename scalar_t, typename T>
__global__ void interpolate_backward_kernel(scalar_t* in, const scalar_t* out, DeviceTaps<T> taps, int64_t n) {
  CUDA_KERNEL_LOOP(column, n) {
    const int64_t outer = column / taps.inner, b = column % taps.inner;
    scalar_t* to = in + outer * taps.in * taps.inner + b;
    const scalar_t* from = out + outer * taps.out * taps.inner + b;
    for (int64_t i = 0; i < taps.in; i++) {
      to[i * taps.inner] = scalar_t(0);
    }
    for (int64_t k = 0; k < taps.out * taps.width; k++) {
      to[taps.index[k] * taps.inner] += static_cast<scalar_t>(taps.weight[k] * T(from[k / taps.width * taps.inner]));
    }
  }
}

template <typename scalar_t, typename T>
void interpolate_dimension(const Tensor& to, const Tensor& from, const upsample::Step& step,
                           const UpSampleOptions& options, bool is_backward) {
  const upsample::Taps<T> taps = upsample::make_taps<T>(step.in, step.out, options, step.dim);
  scalar_t* y = to.data_ptr<scalar_t>();
  const scalar_t* x = from.data_ptr<scalar_t>();
  if (is_backward) {
    const TapTables<T> tables(taps, to.device());
    const int64_t n = step.outer * step.inner;
    launch_elements(to, n, interpolate_backward_kernel<scalar_t, T>, y, x, tables.taps(taps, step.inner), n);
    return;
  }
  const int64_t n = step.outer * step.out * step.inner;
  if constexpr (std::is_same_v<scalar_t, uint8_t> && std::is_same_v<T, double>) {
    const upsample::IntegerTaps whole = upsample::in_integers(taps);
    const TapTables<int32_t> tables(whole.taps, to.device());
    launch_elements(to, n, interpolate_in_integers_kernel, y, x, tables.taps(whole.taps, step.inner), whole.precision,
                    n);
  } else {
    const TapTables<T> tables(taps, to.device());
    launch_elements(to, n, interpolate_kernel<scalar_t, T>, y, x, tables.taps(taps, step.inner), n);
  }
}

// image: (N, C, *), resized: (N, C, *). What lies between two dimensions has a tensor of its own.
template <typename scalar_t, typename T>
void interpolate_all(const Tensor& image, const Tensor& resized, const UpSampleOptions& options, bool is_backward) {
  if (image.numel() == 0 || resized.numel() == 0) {
    return;
  }
  const std::vector<upsample::Step> steps = upsample::steps_of(image.sizes(), resized.sizes(), is_backward);
  Tensor from = is_backward ? resized : image;
  for (size_t i = 0; i < steps.size(); i++) {
    const upsample::Step& step = steps[i];
    const int64_t numel = step.outer * (is_backward ? step.in : step.out) * step.inner;
    const Tensor last = is_backward ? image : resized;
    const Tensor to = i + 1 < steps.size() ? detail::empty_generic({numel}, from.scalar_type(), from.device()) : last;
    interpolate_dimension<scalar_t, T>(to, from, step, options, is_backward);
    from = to;
  }
}

void upsample_kernel_cuda(const Tensor& output, const Tensor& input, const UpSampleOptions& options) {
  if (options.mode == UpSampleMode::Nearest || options.mode == UpSampleMode::NearestExact) {
    using types = FloatingTypesAndReduced::And<uint8_t>;
    dispatch<types>(input.scalar_type(), "upsample_nearest_out_frame", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      interpolate_all<scalar_t, float>(input, output, options, false);
    });
    return;
  }
  if (input.scalar_type() == kByte && options.scales.size() == 2) { // images alone, as on the CPU
    interpolate_all<uint8_t, double>(input, output, options, false);
    return;
  }
  dispatch<FloatingTypes>(input.scalar_type(), "upsample_out_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    interpolate_all<scalar_t, scalar_t>(input, output, options, false);
  });
}

void upsample_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output,
                                   const UpSampleOptions& options) {
  dispatch<FloatingTypes>(grad_output.scalar_type(), "upsample_backward_out_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    interpolate_all<scalar_t, scalar_t>(grad_input, grad_output, options, true);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(upsample_stub, upsample_kernel_cuda)
REGISTER_CUDA_DISPATCH(upsample_backward_stub, upsample_backward_kernel_cuda)

} // namespace reftorch::at::native
