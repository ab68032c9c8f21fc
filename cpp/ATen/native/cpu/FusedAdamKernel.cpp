// Mirrors: aten/src/ATen/native/cpu/FusedAdamKernel.cpp
#include <ATen/native/Lerp.h>
#include <ATen/native/cpu/FusedBlocks.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// g = grad + weight_decay p, or p = p (1 - lr weight_decay) if the decay is decoupled;
// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  with amsgrad, the largest v so far counts;
// p = p - lr / (1 - beta1^step) m / (sqrt(v) / sqrt(1 - beta2^step) + eps)
template <typename scalar_t>
void adam_blocks(const std::vector<TensorList>& lists, size_t i, double step, const FusedAdamOptions& options,
                 double lr, double grad_scale) {
  using T = opmath_type<scalar_t>;
  // Numbers that depend on the options only are double until here, as in Python.
  const T decay = T(options.decoupled_weight_decay ? 1 - lr * options.weight_decay : options.weight_decay);
  const T weight = T(1 - options.beta1), beta2 = T(options.beta2), share = T(1 - options.beta2), eps = T(options.eps);
  const T step_size = T(-(lr / (1 - std::pow(options.beta1, step))));
  const T correction = T(std::pow(1 - std::pow(options.beta2, step), 0.5));
  const T scale = T(grad_scale);
  for_each_block(lists[0][i], [&](int64_t begin, int64_t n) {
    FusedBlock<scalar_t> param(lists[0][i], begin, n);
    FusedGradient<scalar_t> grad(lists[1][i], begin, n, options, scale);
    FusedBlock<scalar_t> exp_avg(lists[2][i], begin, n), exp_avg_sq(lists[3][i], begin, n);
    T *p = param.data(), *m = exp_avg.data(), *v = exp_avg_sq.data();
    if (options.weight_decay != 0 && options.decoupled_weight_decay) {
      vectorized_loop(p, p, n, [decay](T x) -> T { return x * decay; });
    } else if (options.weight_decay != 0) {
      grad.add(p, decay);
    }
    const T* g = grad.data();
    vectorized_loop(m, m, g, n, [weight](T x, T y) -> T { return lerp(x, y, weight); });
    vectorized_loop(v, v, n, [beta2](T x) -> T { return x * beta2; });
    vectorized_loop(v, v, g, n, [share](T x, T y) -> T { return x + share * y * y; });
    T denom[kBlockWidth];
    if (options.amsgrad) {
      FusedBlock<scalar_t> max_exp_avg_sq(lists[4][i], begin, n);
      T* largest = max_exp_avg_sq.data();
      vectorized_loop(largest, largest, v, n, [](T a, T b) -> T { return (a > b) | (a != a) ? a : b; });
      vectorized_loop(denom, largest, n, [](T x) -> T { return std::sqrt(x); });
      max_exp_avg_sq.store();
    } else {
      vectorized_loop(denom, v, n, [](T x) -> T { return std::sqrt(x); });
    }
    vectorized_loop(denom, denom, n, [correction, eps](T x) -> T { return x / correction + eps; });
    vectorized_loop(p, p, m, denom, n, [step_size](T x, T a, T b) -> T { return x + step_size * a / b; });
    param.store();
    exp_avg.store();
    exp_avg_sq.store();
  });
}

void fused_adam_kernel(const std::vector<TensorList>& lists, TensorList steps, const FusedAdamOptions& options) {
  if (skips_update(options)) {
    return;
  }
  const double lr = lr_of(options), scale = options.grad_scale.defined() ? number_of(options.grad_scale) : 1;
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_adam_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      adam_blocks<scalar_t>(lists, i, number_of(steps[i]), options, lr, scale);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(fused_adam_stub, fused_adam_kernel)

} // namespace reftorch::at::native
