// Mirrors: aten/src/ATen/native/cuda/ActivationThresholdKernel.cu, aten/src/ATen/native/cuda/ActivationLeakyReluKernel.cu and kin
//
// The activation functions that are piecewise linear; the others are in ActivationSmooth.cu.
#include <ATen/Functions.h>
#include <ATen/native/Activation.h>
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// noise holds random slopes. Where x is positive, the slope is 1, which is written to noise, too.
template <typename scalar_t>
__global__ void rrelu_with_noise_kernel(scalar_t* output, scalar_t* noise, const scalar_t* x, int64_t n) {
  using opmath_t = opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    const opmath_t value = x[i], slope = value <= 0 ? opmath_t(noise[i]) : opmath_t(1);
    output[i] = static_cast<scalar_t>(value * slope);
    noise[i] = static_cast<scalar_t>(slope);
  }
}

void rrelu_kernel_cuda(const Tensor& output, const Tensor& noise, const Tensor& self, double lower, double upper,
                       const std::optional<Generator>& generator) {
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "rrelu_with_noise_out_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    Tensor slopes = noise;
    at::uniform_(slopes, lower, upper, generator);
    launch_elements(self, self.numel(), rrelu_with_noise_kernel<scalar_t>, output.data_ptr<scalar_t>(),
                    noise.data_ptr<scalar_t>(), self.data_ptr<scalar_t>(), self.numel());
  });
}

} // namespace

REGISTER_CUDA_ELEMENTWISE(relu_stub, relu_kernel_cuda, ReluFunctor, "relu_cuda")
REGISTER_CUDA_ELEMENTWISE(threshold_stub, threshold_kernel_cuda, ThresholdFunctor, "threshold_cuda")
REGISTER_CUDA_ELEMENTWISE(leaky_relu_stub, leaky_relu_kernel_cuda, LeakyReluFunctor, "leaky_relu_cuda")
REGISTER_CUDA_ELEMENTWISE(leaky_relu_backward_stub, leaky_relu_backward_kernel_cuda, LeakyReluBackwardFunctor,
                          "leaky_relu_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(prelu_stub, prelu_kernel_cuda, PreluFunctor, "prelu_cuda")
REGISTER_CUDA_ELEMENTWISE(prelu_backward_self_stub, prelu_backward_self_kernel_cuda, PreluBackwardSelfFunctor,
                          "prelu_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(prelu_backward_weight_stub, prelu_backward_weight_kernel_cuda, PreluBackwardWeightFunctor,
                          "prelu_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(hardtanh_backward_stub, hardtanh_backward_kernel_cuda, HardtanhBackwardFunctor,
                          "hardtanh_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(hardsigmoid_stub, hardsigmoid_kernel_cuda, HardsigmoidFunctor, "hardsigmoid_cuda")
REGISTER_CUDA_ELEMENTWISE(hardsigmoid_backward_stub, hardsigmoid_backward_kernel_cuda, HardsigmoidBackwardFunctor,
                          "hardsigmoid_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(hardswish_stub, hardswish_kernel_cuda, HardswishFunctor, "hardswish_cuda")
REGISTER_CUDA_ELEMENTWISE(hardswish_backward_stub, hardswish_backward_kernel_cuda, HardswishBackwardFunctor,
                          "hardswish_backward_cuda")
REGISTER_CUDA_ELEMENTWISE(hardshrink_stub, hardshrink_kernel_cuda, HardshrinkFunctor, "hardshrink_cuda")
REGISTER_CUDA_ELEMENTWISE(softshrink_stub, softshrink_kernel_cuda, SoftshrinkFunctor, "softshrink_cuda")
REGISTER_CUDA_ELEMENTWISE(shrink_backward_stub, shrink_backward_kernel_cuda, ShrinkBackwardFunctor,
                          "shrink_backward_cuda")
REGISTER_CUDA_DISPATCH(rrelu_stub, rrelu_kernel_cuda)

} // namespace reftorch::at::native
