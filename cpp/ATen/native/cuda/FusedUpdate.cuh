// Mirrors: aten/src/ATen/native/cuda/fused_adam_utils.cuh, aten/src/ATen/native/cuda/FusedSgdKernel.cu
//
// What the kernels of fused optimizers share. A kernel updates one parameter: each element has a thread, which reads
// the parameter, its gradient and its state once. Numbers that are tensors (the step, the learning rate, what a
// GradScaler found) are read by the kernel, so the host never waits for the device. Left out: several parameters in one
// launch (MultiTensorApply.cuh).
#pragma once

#include <ATen/native/FusedUpdate.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {

// The tensors of FusedOptions as float64, which own the numbers that FusedNumbers points to.
struct FusedNumberTensors {
  Tensor lr, grad_scale, found_inf;

  static Tensor as_double(const Tensor& t) {
    return t.defined() ? at::to(t, kDouble) : t;
  }
  explicit FusedNumberTensors(const FusedOptions& options)
      : lr(as_double(options.lr)), grad_scale(as_double(options.grad_scale)), found_inf(as_double(options.found_inf)) {}
};

// FusedOptions for the device. A null pointer stands for a tensor that is not there.
struct FusedNumbers {
  const double *lr, *grad_scale, *found_inf;
  double lr_value, weight_decay;
  bool maximize;

  FusedNumbers(const FusedNumberTensors& tensors, const FusedOptions& options)
      : lr(data_or_null<double>(tensors.lr)),
        grad_scale(data_or_null<double>(tensors.grad_scale)),
        found_inf(data_or_null<double>(tensors.found_inf)),
        lr_value(options.lr_value),
        weight_decay(options.weight_decay),
        maximize(options.maximize) {}

  __device__ bool skips_update() const {
    return found_inf != nullptr && *found_inf == 1;
  }
  __device__ double learning_rate() const {
    return lr != nullptr ? *lr : lr_value;
  }
  // Returns the gradient of an element. The caller's gradient stays as it is, except that grad_scale divides it.
  template <typename scalar_t>
  __device__ opmath_type<scalar_t> gradient(scalar_t& grad) const {
    using T = opmath_type<scalar_t>;
    T g = grad;
    if (grad_scale != nullptr) {
      g /= T(*grad_scale);
      grad = static_cast<scalar_t>(g);
    }
    return maximize ? -g : g;
  }
};

} // namespace reftorch::at::native
