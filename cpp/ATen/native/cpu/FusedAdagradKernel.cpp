// Mirrors: aten/src/ATen/native/cpu/FusedAdagradKernel.cpp
#include <ATen/native/cpu/FusedBlocks.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// g = grad + weight_decay p;  s = s + g^2;  p = p - lr / (1 + (step - 1) lr_decay) g / (sqrt(s) + eps)
template <typename scalar_t>
void adagrad_blocks(const std::vector<TensorList>& lists, size_t i, double step, const FusedAdagradOptions& options,
                    double lr, double grad_scale) {
  using T = opmath_type<scalar_t>;
  const T step_size = T(-lr / (1 + (step - 1) * options.lr_decay)), eps = T(options.eps), scale = T(grad_scale);
  for_each_block(lists[0][i], [&](int64_t begin, int64_t n) {
    FusedBlock<scalar_t> param(lists[0][i], begin, n), state_sum(lists[2][i], begin, n);
    FusedGradient<scalar_t> grad(lists[1][i], begin, n, options, scale);
    T *p = param.data(), *s = state_sum.data();
    if (options.weight_decay != 0) {
      grad.add(p, T(options.weight_decay));
    }
    const T* g = grad.data();
    T std[kBlockWidth];
    vectorized_loop(s, s, g, n, [](T x, T y) -> T { return x + y * y; });
    vectorized_loop(std, s, n, [eps](T x) -> T { return std::sqrt(x) + eps; });
    vectorized_loop(p, p, g, std, n, [step_size](T x, T a, T b) -> T { return x + step_size * a / b; });
    param.store();
    state_sum.store();
  });
}

void fused_adagrad_kernel(const std::vector<TensorList>& lists, TensorList steps, const FusedAdagradOptions& options) {
  if (skips_update(options)) {
    return;
  }
  const double lr = lr_of(options), scale = options.grad_scale.defined() ? number_of(options.grad_scale) : 1;
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_adagrad_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      adagrad_blocks<scalar_t>(lists, i, number_of(steps[i]), options, lr, scale);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(fused_adagrad_stub, fused_adagrad_kernel)

} // namespace reftorch::at::native
