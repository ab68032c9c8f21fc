// Mirrors: aten/src/ATen/native/LossNLL.cpp, aten/src/ATen/native/LossNLL2d.cpp (their kernels)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// input (N, C), (C) or (N, C, H, W) and target (N), () or (N, H, W) are contiguous, weight (C) is contiguous or
// undefined; output has the shape of target, or is 0-dim for one loss of all; total_weight is 0-dim.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& total_weight, const Tensor& input, const Tensor& target,
                          const Tensor& weight, int64_t reduction, int64_t ignore_index),
                 nll_loss_stub)
// The caller has filled grad_input, which has the shape of input, with zeros.
DECLARE_DISPATCH(void (*)(const Tensor& grad_input, const Tensor& grad_output, const Tensor& target,
                          const Tensor& weight, const Tensor& total_weight, int64_t reduction, int64_t ignore_index),
                 nll_loss_backward_stub)

} // namespace reftorch::at::native
