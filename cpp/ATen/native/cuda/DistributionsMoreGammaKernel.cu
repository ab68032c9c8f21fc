// Mirrors: aten/src/ATen/native/cuda/Distributions.cu
//
// Draws gamma variables; the derivatives of gamma and Dirichlet samples by their parameters.
#include <ATen/native/DistributionSamplers.h>
#include <ATen/native/Distributions.h>
#include <ATen/native/DistributionsGradFunctors.h>

#include <ATen/native/cuda/DistributionTemplates.cuh>

namespace reftorch::at::native {
namespace {

// Operands: result, shape parameter.
template <typename scalar_t>
struct GammaFunctor {
  scalar_t smallest; // the smallest positive number
  C10_HOST_DEVICE scalar_t operator()(PhiloxDraws& draws, const char* alpha) const {
    UniformDraws uniform{&draws};
    NormalDraws normal{&draws};
    const auto sample = static_cast<scalar_t>(sample_gamma(*reinterpret_cast<const scalar_t*>(alpha), uniform, normal));
    return sample > smallest ? sample : smallest;
  }
};

void gamma_kernel_cuda(TensorIterator& iter, const OptionalGenerator& generator) {
  dispatch<FloatingTypes>(iter.dtype(), "gamma_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    gpu_random_kernel<scalar_t, 2>(iter, generator, kDraws,
                                   GammaFunctor<scalar_t>{std::numeric_limits<scalar_t>::min()});
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(gamma_stub, gamma_kernel_cuda)
REGISTER_CUDA_ELEMENTWISE(gamma_grad_stub, gamma_grad_kernel_cuda, GammaGradFunctor, "_standard_gamma_grad_cuda")
REGISTER_CUDA_ELEMENTWISE(dirichlet_grad_stub, dirichlet_grad_kernel_cuda, DirichletGradFunctor, "_dirichlet_grad_cuda")

} // namespace reftorch::at::native
