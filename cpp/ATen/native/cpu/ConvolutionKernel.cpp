// Mirrors: aten/src/ATen/native/ConvolutionMM2d.cpp, aten/src/ATen/native/cpu/DepthwiseConvKernel.cpp
//
// Chooses the dtype and the rung; the sums are in ConvolutionRungs.h. Left out: mkldnn, NNPACK and XNNPACK.
#include <ATen/native/cpu/ConvolutionRungs.h>

namespace reftorch::at::native {
namespace {

template <typename T>
const T* bias_or_null(const Tensor& bias) {
  return bias.defined() ? bias.data_ptr<T>() : nullptr;
}

// Integers have one rung, because only floats have the products of matrices and the tiles that the others need.
template <typename T>
conv::Rung rung_of(const ConvShape& shape) {
  if constexpr (std::is_floating_point_v<T>) {
    return conv::fastest_rung<T>(shape);
  } else {
    return conv::Rung::Unfolded;
  }
}

void convolution_kernel(const Tensor& output, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvShape& shape) {
  dispatch<FloatingTypes::And<uint8_t, int8_t, int16_t, int32_t, int64_t>>(
      output.scalar_type(), "slow_conv2d_cpu", [&](auto type) {
        using scalar_t = typename decltype(type)::type;
        conv::forward(rung_of<scalar_t>(shape), output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                      weight.data_ptr<scalar_t>(), bias_or_null<scalar_t>(bias), shape);
      });
}

void convolution_backward_input_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& weight,
                                       const Tensor& bias, const ConvShape& shape) {
  dispatch<FloatingTypes::And<int64_t>>(grad_input.scalar_type(), "slow_conv_transpose2d_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    conv::backward_input(rung_of<scalar_t>(shape), grad_input.data_ptr<scalar_t>(), grad_output.data_ptr<scalar_t>(),
                         weight.data_ptr<scalar_t>(), bias_or_null<scalar_t>(bias), shape);
  });
}

void convolution_backward_weight_kernel(const Tensor& grad_weight, const Tensor& grad_output, const Tensor& input,
                                        const ConvShape& shape) {
  dispatch<FloatingTypes>(grad_weight.scalar_type(), "slow_conv2d_cpu_grad_weight", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    conv::backward_weight(conv::fastest_rung<scalar_t>(shape), grad_weight.data_ptr<scalar_t>(),
                          grad_output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), shape);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(convolution_stub, convolution_kernel)
REGISTER_CPU_DISPATCH(convolution_backward_input_stub, convolution_backward_input_kernel)
REGISTER_CPU_DISPATCH(convolution_backward_weight_stub, convolution_backward_weight_kernel)

} // namespace reftorch::at::native
