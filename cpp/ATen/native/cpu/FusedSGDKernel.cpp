// Mirrors: aten/src/ATen/native/cpu/FusedSGDKernel.cpp
#include <ATen/native/cpu/FusedBlocks.h>

namespace reftorch::at::native {
namespace {

// g = grad + weight_decay p;  b = momentum b + (1 - dampening) g, or g in the first step;
// p = p - lr b, or p - lr (g + momentum b) with Nesterov's form, or p - lr g without momentum
template <typename scalar_t>
void sgd_blocks(const std::vector<TensorList>& lists, size_t i, const FusedSGDOptions& options, double lr,
                double grad_scale) {
  using T = opmath_type<scalar_t>;
  const T momentum = T(options.momentum), scale = T(grad_scale);
  for_each_block(lists[0][i], [&](int64_t begin, int64_t n) {
    FusedBlock<scalar_t> param(lists[0][i], begin, n);
    FusedGradient<scalar_t> grad(lists[1][i], begin, n, options, scale);
    if (options.weight_decay != 0) {
      grad.add(param.data(), T(options.weight_decay));
    }
    const T step = T(-lr);
    const auto descend = [step](T p, T g) -> T { return p + step * g; };
    if (options.momentum == 0) {
      vectorized_loop(param.data(), param.data(), grad.data(), n, descend);
    } else {
      FusedBlock<scalar_t> buffer(lists[2][i], begin, n, !options.is_first_step);
      T* b = buffer.data();
      if (options.is_first_step) {
        std::copy_n(grad.data(), n, b);
      } else {
        const T share = T(1 - options.dampening);
        vectorized_loop(b, b, n, [momentum](T old) -> T { return old * momentum; });
        vectorized_loop(b, b, grad.data(), n, [share](T old, T g) -> T { return old + share * g; });
      }
      if (options.nesterov) {
        grad.add(b, momentum);
      }
      vectorized_loop(param.data(), param.data(), options.nesterov ? grad.data() : b, n, descend);
      buffer.store();
    }
    param.store();
  });
}

void fused_sgd_kernel(const std::vector<TensorList>& lists, const FusedSGDOptions& options) {
  if (skips_update(options)) {
    return;
  }
  const double lr = lr_of(options), scale = options.grad_scale.defined() ? number_of(options.grad_scale) : 1;
  dispatch<FloatingTypesAndReduced>(lists[0][0].scalar_type(), "fused_sgd_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for (size_t i = 0; i < lists[0].size(); i++) {
      sgd_blocks<scalar_t>(lists, i, options, lr, scale);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(fused_sgd_stub, fused_sgd_kernel)

} // namespace reftorch::at::native
