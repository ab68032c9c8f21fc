// Mirrors: aten/src/ATen/native/cuda/FusedAdagradKernel.cu
#include <ATen/native/cuda/FusedUpdate.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

struct AdagradNumbers : FusedNumbers {
  double lr_decay, eps;

  AdagradNumbers(const FusedNumberTensors& tensors, const FusedAdagradOptions& options)
      : FusedNumbers(tensors, options), lr_decay(options.lr_decay), eps(options.eps) {}
};

// The formulas are those of the CPU's kernel.
template <typename scalar_t>
__global__ void fused_adagrad_kernel(scalar_t* param, scalar_t* grad, scalar_t* state_sum, const double* step,
                                     AdagradNumbers numbers, int64_t n) {
  using T = opmath_type<scalar_t>;
  if (numbers.skips_update()) {
    return;
  }
  const T step_size = T(-numbers.learning_rate() / (1 + (*step - 1) * numbers.lr_decay));
  CUDA_KERNEL_LOOP(i, n) {
    const T p = param[i];
    T g = numbers.gradient(grad[i]);
    if (numbers.weight_decay != 0) {
      g += T(numbers.weight_decay) * p;
    }
    const T s = T(state_sum[i]) + g * g;
    state_sum[i] = static_cast<scalar_t>(s);
    param[i] = static_cast<scalar_t>(p + step_size * g / (std::sqrt(s) + T(numbers.eps)));
  }
}

void fused_adagrad_kernel_cuda(const std::vector<TensorList>& lists, TensorList steps,
                               const FusedAdagradOptions& options) {
  const FusedNumberTensors tensors(options);
  const AdagradNumbers numbers(tensors, options);
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_adagrad_kernel_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      const auto data = [&](size_t k) { return lists[k][i].template data_ptr<scalar_t>(); };
      const Tensor step = FusedNumberTensors::as_double(steps[i]);
      launch_elements(lists[0][i], lists[0][i].numel(), fused_adagrad_kernel<scalar_t>, data(0), data(1), data(2),
                      step.data_ptr<double>(), numbers, lists[0][i].numel());
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(fused_adagrad_stub, fused_adagrad_kernel_cuda)

} // namespace reftorch::at::native
