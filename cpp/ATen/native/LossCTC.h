// Mirrors: aten/src/ATen/native/LossCTC.cpp (its kernels)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <vector>

namespace reftorch::at::native {

// The sizes of a batch of B sequences with scores for T steps and C labels. The target of sequence b has
// target_lengths[b] labels, which begin at target_offsets[b] of the dense `targets`.
struct CTCShape {
  int64_t T, B, C, S; // S: the longest target
  std::vector<int64_t> input_lengths, target_lengths, target_offsets;
  int64_t blank;
};

// All tensors are contiguous. log_probs: (T, B, C), targets: int64; loss: (B), log_alpha: (B, T, 2 S + 1).
using ctc_loss_fn = void (*)(const Tensor& loss, const Tensor& log_alpha, const Tensor& log_probs,
                             const Tensor& targets, const CTCShape& shape);
// grad, loss: (B); the caller has filled grad_input (T, B, C) with zeros.
using ctc_loss_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad, const Tensor& log_probs,
                                      const Tensor& targets, const Tensor& loss, const Tensor& log_alpha,
                                      const CTCShape& shape, bool zero_infinity);
DECLARE_DISPATCH(ctc_loss_fn, ctc_loss_stub)
DECLARE_DISPATCH(ctc_loss_backward_fn, ctc_loss_backward_stub)

} // namespace reftorch::at::native
