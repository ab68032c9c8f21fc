// Mirrors: aten/src/ATen/native/cpu/Activation.cpp
//
// The activation functions that are piecewise linear; the others are in ActivationSmooth.cpp.
#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/Activation.h>
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// One element after another, because each draw changes the state of the generator.
void rrelu_kernel(const Tensor& output, const Tensor& noise, const Tensor& self, double lower_, double upper_,
                  const std::optional<Generator>& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kHalf, "\"rrelu_with_noise_out_cpu\" not implemented for 'Half'");
  dispatch<FloatingTypesAndReduced>(self.scalar_type(), "rrelu_with_noise_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const uniform_real_distribution<double> uniform{static_cast<opmath_t>(lower_), static_cast<opmath_t>(upper_)};
    const scalar_t* x = self.data_ptr<scalar_t>();
    scalar_t *out = output.data_ptr<scalar_t>(), *slopes = noise.data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); i++) {
      const opmath_t value = x[i];
      const opmath_t slope = value <= 0 ? static_cast<opmath_t>(uniform(generator)) : opmath_t(1);
      out[i] = value * slope;
      slopes[i] = slope;
    }
  });
}

} // namespace

REGISTER_CPU_ELEMENTWISE(relu_stub, relu_kernel, ReluFunctor, "relu_cpu")
REGISTER_CPU_ELEMENTWISE(threshold_stub, threshold_kernel, ThresholdFunctor, "threshold_cpu")
REGISTER_CPU_ELEMENTWISE(leaky_relu_stub, leaky_relu_kernel, LeakyReluFunctor, "leaky_relu_cpu")
REGISTER_CPU_ELEMENTWISE(leaky_relu_backward_stub, leaky_relu_backward_kernel, LeakyReluBackwardFunctor,
                         "leaky_relu_backward_cpu")
REGISTER_CPU_ELEMENTWISE(prelu_stub, prelu_kernel, PreluFunctor, "prelu_cpu")
REGISTER_CPU_ELEMENTWISE(prelu_backward_self_stub, prelu_backward_self_kernel, PreluBackwardSelfFunctor,
                         "prelu_backward_cpu")
REGISTER_CPU_ELEMENTWISE(prelu_backward_weight_stub, prelu_backward_weight_kernel, PreluBackwardWeightFunctor,
                         "prelu_backward_cpu")
REGISTER_CPU_ELEMENTWISE(hardtanh_backward_stub, hardtanh_backward_kernel, HardtanhBackwardFunctor,
                         "hardtanh_backward_cpu")
REGISTER_CPU_ELEMENTWISE(hardsigmoid_stub, hardsigmoid_kernel, HardsigmoidFunctor, "hardsigmoid_cpu")
REGISTER_CPU_ELEMENTWISE(hardsigmoid_backward_stub, hardsigmoid_backward_kernel, HardsigmoidBackwardFunctor,
                         "hardsigmoid_backward")
REGISTER_CPU_ELEMENTWISE(hardswish_stub, hardswish_kernel, HardswishFunctor, "hardswish_cpu")
REGISTER_CPU_ELEMENTWISE(hardswish_backward_stub, hardswish_backward_kernel, HardswishBackwardFunctor,
                         "hardswish_backward_cpu")
REGISTER_CPU_ELEMENTWISE(hardshrink_stub, hardshrink_kernel, HardshrinkFunctor, "hardshrink_cpu")
REGISTER_CPU_ELEMENTWISE(softshrink_stub, softshrink_kernel, SoftshrinkFunctor, "softshrink_cpu")
REGISTER_CPU_ELEMENTWISE(shrink_backward_stub, shrink_backward_kernel, ShrinkBackwardFunctor, "shrink_backward_cpu")
REGISTER_CPU_DISPATCH(rrelu_stub, rrelu_kernel)

} // namespace reftorch::at::native
