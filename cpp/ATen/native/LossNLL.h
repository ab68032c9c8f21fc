// Mirrors: aten/src/ATen/native/LossNLL.cpp (its kernels)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// input (N, C) and target (N) are contiguous, weight (C) is contiguous or undefined; output is (N) or 0-dim,
// total_weight is 0-dim.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                          const Tensor& weight, int64_t reduction, int64_t ignore_index),
                 nll_loss_stub)
// The caller has filled grad_input (N, C) with zeros.
DECLARE_DISPATCH(void (*)(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                          const Tensor& weight, const Tensor& total_weight, int64_t reduction, int64_t ignore_index),
                 nll_loss_backward_stub)
// The same for images: input (N, C, H, W), target (N, H, W); output is (N, H, W) or 0-dim.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                          const Tensor& weight, int64_t reduction, int64_t ignore_index),
                 nll_loss2d_stub)
DECLARE_DISPATCH(void (*)(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                          const Tensor& weight, const Tensor& total_weight, int64_t reduction, int64_t ignore_index),
                 nll_loss2d_backward_stub)

} // namespace reftorch::at::native
