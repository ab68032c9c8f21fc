// Mirrors: aten/src/ATen/native/Distributions.h (sample_gamma), aten/src/ATen/native/cpu/DistributionKernels.cpp
//
// Draws gamma variables; the derivatives of gamma and Dirichlet samples by their parameters.
#include <ATen/native/Distributions.h>

#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/DistributionSamplers.h>
#include <ATen/native/DistributionsGradFunctors.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/SerialLoop.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

void gamma_kernel(TensorIterator& iter, const OptionalGenerator& gen) {
  CPUGeneratorImpl* const generator = get_generator_or_default<CPUGeneratorImpl>(gen, default_cpu_generator());
  dispatch<FloatingTypes>(iter.dtype(), "gamma_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto uniform = [&] { return uniform_real_distribution<double>{0, 1}(generator); };
    const auto normal = [&] { return normal_distribution{0, 1}(generator); };
    cpu_serial_unary_kernel<scalar_t, scalar_t>(iter, generator, [&](scalar_t alpha) {
      const auto sample = static_cast<scalar_t>(sample_gamma(alpha, uniform, normal));
      return std::max(std::numeric_limits<scalar_t>::min(), sample);
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(gamma_stub, gamma_kernel)
REGISTER_CPU_ELEMENTWISE(gamma_grad_stub, gamma_grad_kernel, GammaGradFunctor, "_standard_gamma_grad_cpu")
REGISTER_CPU_ELEMENTWISE(dirichlet_grad_stub, dirichlet_grad_kernel, DirichletGradFunctor, "_dirichlet_grad_cpu")

} // namespace reftorch::at::native
