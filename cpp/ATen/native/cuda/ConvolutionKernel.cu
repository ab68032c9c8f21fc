// Mirrors: aten/src/ATen/native/cuda/NaiveConvolutionTranspose2d.cu, aten/src/ATen/native/cuda/DepthwiseConv2d.cu
//
// The three sums of a convolution (Note [Three sums of a convolution]), with one thread for each element of the result.
// Each thread reads what it needs from global memory. Left out: shared memory, and libraries such as cuDNN, whose
// kernels are many times faster.
#include <ATen/Dispatch.h>
#include <ATen/native/Convolution.h>

#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// ConvShape in plain arrays, for the device.
struct Shape {
  int64_t batch, groups, in_channels, out_channels;
  int64_t input[3], output[3], kernel[3], stride[3], padding[3], dilation[3];

  explicit Shape(const ConvShape& s)
      : batch(s.batch), groups(s.groups), in_channels(s.in_channels), out_channels(s.out_channels) {
    for (int d = 0; d < 3; d++) {
      input[d] = s.input[d], output[d] = s.output[d], kernel[d] = s.kernel[d];
      stride[d] = s.stride[d], padding[d] = s.padding[d], dilation[d] = s.dilation[d];
    }
  }
};

C10_HOST_DEVICE int64_t product(const int64_t* dims) {
  return dims[0] * dims[1] * dims[2];
}

// Splits a position in an array of `dims` into depth, row and column.
__device__ void split(int64_t position, const int64_t* dims, int64_t* result) {
  result[2] = position % dims[2];
  result[1] = position / dims[2] % dims[1];
  result[0] = position / dims[2] / dims[1];
}

// Returns the position in the input onto which the kernel, placed at output position o, lays its element k; -1 if this
// is on the padding.
__device__ int64_t input_at(const Shape& s, const int64_t* o, const int64_t* k) {
  int64_t position = 0;
  for (int d = 0; d < 3; d++) {
    const int64_t i = o[d] * s.stride[d] - s.padding[d] + k[d] * s.dilation[d];
    if (i < 0 || i >= s.input[d]) {
      return -1;
    }
    position = position * s.input[d] + i;
  }
  return position;
}

// Returns the output position from which the kernel lays its element k onto input position i; -1 if there is none.
__device__ int64_t output_at(const Shape& s, const int64_t* i, const int64_t* k) {
  int64_t position = 0;
  for (int d = 0; d < 3; d++) {
    const int64_t distance = i[d] + s.padding[d] - k[d] * s.dilation[d];
    if (distance < 0 || distance % s.stride[d] != 0 || distance / s.stride[d] >= s.output[d]) {
      return -1;
    }
    position = position * s.output[d] + distance / s.stride[d];
  }
  return position;
}

// output[n, gm, o] = bias[gm] + sum over c, k of input[n, gc, i(o, k)] weight[gm, c, k]
struct Forward {
  static int64_t count(const Shape& s) {
    return s.batch * s.groups * s.out_channels * product(s.output);
  }
  template <typename scalar_t, typename opmath_t>
  static __device__ opmath_t sum(const Shape& s, const scalar_t* input, const scalar_t* weight, const scalar_t* bias,
                                 int64_t index, opmath_t) {
    const int64_t outputs = product(s.output), inputs = product(s.input), kernel = product(s.kernel);
    const int64_t channel = index / outputs % (s.groups * s.out_channels); // gm
    const int64_t n = index / outputs / (s.groups * s.out_channels), g = channel / s.out_channels;
    int64_t o[3], k[3];
    split(index % outputs, s.output, o);
    opmath_t total = bias != nullptr ? opmath_t(bias[channel]) : opmath_t(0);
    const scalar_t* w = weight + channel * s.in_channels * kernel;
    for (int64_t c = 0; c < s.in_channels; c++, w += kernel) {
      const scalar_t* x = input + ((n * s.groups + g) * s.in_channels + c) * inputs;
      for (int64_t j = 0; j < kernel; j++) {
        split(j, s.kernel, k);
        const int64_t i = input_at(s, o, k);
        total += i < 0 ? opmath_t(0) : opmath_t(x[i]) * opmath_t(w[j]);
      }
    }
    return total;
  }
};

// grad_input[n, gc, i] = bias[gc] + sum over m, k of grad_output[n, gm, o(i, k)] weight[gm, c, k]
struct BackwardInput {
  static int64_t count(const Shape& s) {
    return s.batch * s.groups * s.in_channels * product(s.input);
  }
  template <typename scalar_t, typename opmath_t>
  static __device__ opmath_t sum(const Shape& s, const scalar_t* grad_output, const scalar_t* weight,
                                 const scalar_t* bias, int64_t index, opmath_t) {
    const int64_t outputs = product(s.output), inputs = product(s.input), kernel = product(s.kernel);
    const int64_t channel = index / inputs % (s.groups * s.in_channels); // gc
    const int64_t n = index / inputs / (s.groups * s.in_channels);
    const int64_t g = channel / s.in_channels, c = channel % s.in_channels;
    int64_t i[3], k[3];
    split(index % inputs, s.input, i);
    opmath_t total = bias != nullptr ? opmath_t(bias[channel]) : opmath_t(0);
    for (int64_t m = 0; m < s.out_channels; m++) {
      const scalar_t* w = weight + ((g * s.out_channels + m) * s.in_channels + c) * kernel;
      const scalar_t* grad = grad_output + ((n * s.groups + g) * s.out_channels + m) * outputs;
      for (int64_t j = 0; j < kernel; j++) {
        split(j, s.kernel, k);
        const int64_t o = output_at(s, i, k);
        total += o < 0 ? opmath_t(0) : opmath_t(grad[o]) * opmath_t(w[j]);
      }
    }
    return total;
  }
};

// grad_weight[gm, c, k] = sum over n, o of grad_output[n, gm, o] input[n, gc, i(o, k)]
struct BackwardWeight {
  static int64_t count(const Shape& s) {
    return s.groups * s.out_channels * s.in_channels * product(s.kernel);
  }
  template <typename scalar_t, typename opmath_t>
  static __device__ opmath_t sum(const Shape& s, const scalar_t* grad_output, const scalar_t* input,
                                 const scalar_t* /*bias*/, int64_t index, opmath_t) {
    const int64_t outputs = product(s.output), inputs = product(s.input), kernel = product(s.kernel);
    const int64_t c = index / kernel % s.in_channels, channel = index / kernel / s.in_channels; // gm
    const int64_t g = channel / s.out_channels;
    int64_t o[3], k[3];
    split(index % kernel, s.kernel, k);
    opmath_t total = 0;
    for (int64_t n = 0; n < s.batch; n++) {
      const scalar_t* grad = grad_output + (n * s.groups * s.out_channels + channel) * outputs;
      const scalar_t* x = input + ((n * s.groups + g) * s.in_channels + c) * inputs;
      for (int64_t j = 0; j < outputs; j++) {
        split(j, s.output, o);
        const int64_t i = input_at(s, o, k);
        total += i < 0 ? opmath_t(0) : opmath_t(grad[j]) * opmath_t(x[i]);
      }
    }
    return total;
  }
};

template <typename Which, typename scalar_t>
__global__ void convolution_sum_kernel(scalar_t* result, const scalar_t* a, const scalar_t* b, const scalar_t* bias,
                                       Shape shape, int64_t n) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    result[i] = static_cast<scalar_t>(Which::sum(shape, a, b, bias, i, opmath_type<scalar_t>()));
  }
}

template <typename Which>
void run(const Tensor& result, const Tensor& a, const Tensor& b, const Tensor& bias, const ConvShape& conv_shape) {
  dispatch<FloatingTypesAndReduced>(result.scalar_type(), "convolution_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const Shape shape(conv_shape);
    const int64_t n = Which::count(shape);
    if (n == 0) {
      return;
    }
    const c10::cuda::CUDAGuard guard(result.device().index());
    c10::cuda::launch(convolution_sum_kernel<Which, scalar_t>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), result.data_ptr<scalar_t>(),
                      static_cast<const scalar_t*>(a.data_ptr<scalar_t>()),
                      static_cast<const scalar_t*>(b.data_ptr<scalar_t>()),
                      bias.defined() ? static_cast<const scalar_t*>(bias.data_ptr<scalar_t>()) : nullptr, shape, n);
  });
}

void convolution_kernel_cuda(const Tensor& output, const Tensor& input, const Tensor& weight, const Tensor& bias,
                             const ConvShape& shape) {
  run<Forward>(output, input, weight, bias, shape);
}

void convolution_backward_input_kernel_cuda(const Tensor& grad_input, const Tensor& grad_output, const Tensor& weight,
                                            const Tensor& bias, const ConvShape& shape) {
  run<BackwardInput>(grad_input, grad_output, weight, bias, shape);
}

void convolution_backward_weight_kernel_cuda(const Tensor& grad_weight, const Tensor& grad_output, const Tensor& input,
                                             const ConvShape& shape) {
  run<BackwardWeight>(grad_weight, grad_output, input, Tensor(), shape);
}

} // namespace

REGISTER_CUDA_DISPATCH(convolution_stub, convolution_kernel_cuda)
REGISTER_CUDA_DISPATCH(convolution_backward_input_stub, convolution_backward_input_kernel_cuda)
REGISTER_CUDA_DISPATCH(convolution_backward_weight_stub, convolution_backward_weight_kernel_cuda)

} // namespace reftorch::at::native
