// Mirrors: aten/src/ATen/native/cuda/FusedSgdKernel.cu
#include <ATen/native/cuda/FusedUpdate.cuh>

namespace reftorch::at::native {
namespace {

struct SGDNumbers : FusedNumbers {
  double momentum, dampening;
  bool nesterov, is_first_step;

  SGDNumbers(const FusedNumberTensors& tensors, const FusedSGDOptions& options)
      : FusedNumbers(tensors, options),
        momentum(options.momentum),
        dampening(options.dampening),
        nesterov(options.nesterov),
        is_first_step(options.is_first_step) {}
};

// The formulas are those of the CPU's kernel. buffer: the momentum, or null.
template <typename scalar_t>
__global__ void fused_sgd_kernel(scalar_t* param, scalar_t* grad, scalar_t* buffer, SGDNumbers numbers, int64_t n) {
  using T = opmath_type<scalar_t>;
  if (numbers.skips_update()) {
    return;
  }
  const T step = T(-numbers.learning_rate()), momentum = T(numbers.momentum), share = T(1 - numbers.dampening);
  CUDA_KERNEL_LOOP(i, n) {
    const T p = param[i];
    T g = numbers.gradient(grad[i]);
    if (numbers.weight_decay != 0) {
      g += T(numbers.weight_decay) * p;
    }
    if (buffer != nullptr) {
      const T b = numbers.is_first_step ? g : T(buffer[i]) * momentum + share * g;
      buffer[i] = static_cast<scalar_t>(b);
      g = numbers.nesterov ? g + momentum * b : b;
    }
    param[i] = static_cast<scalar_t>(p + step * g);
  }
}

void fused_sgd_kernel_cuda(const std::vector<TensorList>& lists, const FusedSGDOptions& options) {
  const FusedNumberTensors tensors(options);
  const SGDNumbers numbers(tensors, options);
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_sgd_kernel_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      const auto data = [&](size_t k) { return lists[k][i].template data_ptr<scalar_t>(); };
      launch_elements(lists[0][i], lists[0][i].numel(), fused_sgd_kernel<scalar_t>, data(0), data(1),
                      options.momentum != 0 ? data(2) : nullptr, numbers, lists[0][i].numel());
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(fused_sgd_stub, fused_sgd_kernel_cuda)

} // namespace reftorch::at::native
