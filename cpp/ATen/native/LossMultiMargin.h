// Mirrors: aten/src/ATen/native/LossMulti.h
//
// The kernels of the margin losses of classes. All tensors are contiguous. N is the number of examples, C the number of
// classes. One example may come without its dimension: input (C), and target () or (1).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// input: (N, C), target: (N), weight: (C) or undefined; output: (N), or () if the losses are reduced
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& input, const Tensor& target, const Tensor& weight,
                          int64_t p, double margin, int64_t reduction),
                 multi_margin_loss_stub)
// grad_input: (N, C), grad_output: as output
DECLARE_DISPATCH(void (*)(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                          const Tensor& target, const Tensor& weight, int64_t p, double margin, int64_t reduction),
                 multi_margin_loss_backward_stub)
// input, target, is_target: (N, C); output: (N), or () if the losses are reduced. The caller has filled is_target with
// 0.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& is_target, const Tensor& input, const Tensor& target,
                          int64_t reduction),
                 multilabel_margin_loss_stub)
// The caller has filled grad_input (N, C) with 0.
DECLARE_DISPATCH(void (*)(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                          const Tensor& target, const Tensor& is_target, int64_t reduction),
                 multilabel_margin_loss_backward_stub)

} // namespace reftorch::at::native
