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

void convolution_kernel(const Tensor& output, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvShape& shape) {
  AT_DISPATCH_SWITCH(output.scalar_type(), "slow_conv2d_cpu", AT_DISPATCH_CASE_FLOATING([&] {
                       conv::forward(conv::fastest_rung<scalar_t>(shape), output.data_ptr<scalar_t>(),
                                     input.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                     bias_or_null<scalar_t>(bias), shape);
                     }) AT_DISPATCH_CASE_INTEGRAL([&] {
                       conv::forward(conv::Rung::Unfolded, output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                     weight.data_ptr<scalar_t>(), bias_or_null<scalar_t>(bias), shape);
                     }));
}

void convolution_backward_input_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& weight,
                                       const Tensor& bias, const ConvShape& shape) {
  AT_DISPATCH_SWITCH(grad_input.scalar_type(), "slow_conv_transpose2d_out_cpu", AT_DISPATCH_CASE_FLOATING([&] {
                       conv::backward_input(conv::fastest_rung<scalar_t>(shape), grad_input.data_ptr<scalar_t>(),
                                            grad_output.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                            bias_or_null<scalar_t>(bias), shape);
                     }) AT_DISPATCH_CASE_TYPE(Long, [&] {
                       conv::backward_input(conv::Rung::Unfolded, grad_input.data_ptr<scalar_t>(),
                                            grad_output.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                            bias_or_null<scalar_t>(bias), shape);
                     }));
}

void convolution_backward_weight_kernel(const Tensor& grad_weight, const Tensor& grad_output, const Tensor& input,
                                        const ConvShape& shape) {
  AT_DISPATCH_FLOATING_TYPES(grad_weight.scalar_type(), "slow_conv2d_cpu_grad_weight", [&] {
    conv::backward_weight(conv::fastest_rung<scalar_t>(shape), grad_weight.data_ptr<scalar_t>(),
                          grad_output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), shape);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(convolution_stub, convolution_kernel)
REGISTER_CPU_DISPATCH(convolution_backward_input_stub, convolution_backward_input_kernel)
REGISTER_CPU_DISPATCH(convolution_backward_weight_stub, convolution_backward_weight_kernel)

} // namespace reftorch::at::native
