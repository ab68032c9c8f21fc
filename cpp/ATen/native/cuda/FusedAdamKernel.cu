// Mirrors: aten/src/ATen/native/cuda/FusedAdamKernel.cu, aten/src/ATen/native/cuda/FusedAdamWKernel.cu
#include <ATen/native/Lerp.h>
#include <ATen/native/cuda/FusedUpdate.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

struct AdamNumbers : FusedNumbers {
  double beta1, beta2, eps;
  bool decoupled_weight_decay;

  AdamNumbers(const FusedNumberTensors& tensors, const FusedAdamOptions& options)
      : FusedNumbers(tensors, options),
        beta1(options.beta1),
        beta2(options.beta2),
        eps(options.eps),
        decoupled_weight_decay(options.decoupled_weight_decay) {}
};

// The formulas are those of the CPU's kernel. largest: the largest v so far with amsgrad, otherwise null.
template <typename scalar_t>
__global__ void fused_adam_kernel(scalar_t* param, scalar_t* grad, scalar_t* exp_avg, scalar_t* exp_avg_sq,
                                  scalar_t* largest, const double* step, AdamNumbers numbers, int64_t n) {
  using T = opmath_type<scalar_t>;
  if (numbers.skips_update()) {
    return;
  }
  const double lr = numbers.learning_rate();
  const T decay = T(numbers.decoupled_weight_decay ? 1 - lr * numbers.weight_decay : numbers.weight_decay);
  const T step_size = T(-(lr / (1 - std::pow(numbers.beta1, *step))));
  const T correction = T(std::sqrt(1 - std::pow(numbers.beta2, *step)));
  CUDA_KERNEL_LOOP(i, n) {
    T p = param[i], g = numbers.gradient(grad[i]);
    if (numbers.weight_decay != 0 && numbers.decoupled_weight_decay) {
      p *= decay;
    } else if (numbers.weight_decay != 0) {
      g += decay * p;
    }
    const T m = lerp(T(exp_avg[i]), g, T(1 - numbers.beta1));
    const T v = T(exp_avg_sq[i]) * T(numbers.beta2) + T(1 - numbers.beta2) * g * g;
    exp_avg[i] = static_cast<scalar_t>(m);
    exp_avg_sq[i] = static_cast<scalar_t>(v);
    T of_v = v;
    if (largest != nullptr) {
      const T old = largest[i];
      of_v = old > v || old != old ? old : v;
      largest[i] = static_cast<scalar_t>(of_v);
    }
    param[i] = static_cast<scalar_t>(p + step_size * m / (std::sqrt(of_v) / correction + T(numbers.eps)));
  }
}

void fused_adam_kernel_cuda(const std::vector<TensorList>& lists, TensorList steps, const FusedAdamOptions& options) {
  const FusedNumberTensors tensors(options);
  const AdamNumbers numbers(tensors, options);
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_adam_kernel_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      const auto data = [&](size_t k) { return lists[k][i].template data_ptr<scalar_t>(); };
      const Tensor step = FusedNumberTensors::as_double(steps[i]);
      launch_elements(lists[0][i], lists[0][i].numel(), fused_adam_kernel<scalar_t>, data(0), data(1), data(2), data(3),
                      options.amsgrad ? data(4) : nullptr, step.data_ptr<double>(), numbers, lists[0][i].numel());
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(fused_adam_stub, fused_adam_kernel_cuda)

} // namespace reftorch::at::native
