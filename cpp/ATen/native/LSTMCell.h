// Mirrors: aten/src/ATen/native/cuda/RNN.cu (lstm_forward_impl, lstm_backward_impl)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// B sequences and H numbers of state. All tensors have one dtype, float or double. The gates, (B, 4 H), and the other
// arguments, (B, H), have neighbouring elements in a row; the distance between rows is free. Results are contiguous.
// workspace: (B, 4 H), the gates after sigmoid and tanh, for the backward.
using lstm_cell_fn = void (*)(const Tensor& hy, const Tensor& cy, const Tensor& workspace, const Tensor& input_gates,
                              const Tensor& hidden_gates, const Tensor& cx);
using lstm_cell_backward_fn = void (*)(const Tensor& grad_gates, const Tensor& grad_cx, const Tensor& grad_hy,
                                       const Tensor& grad_cy, const Tensor& cx, const Tensor& cy,
                                       const Tensor& workspace);
DECLARE_DISPATCH(lstm_cell_fn, lstm_cell_stub)
DECLARE_DISPATCH(lstm_cell_backward_fn, lstm_cell_backward_stub)

} // namespace reftorch::at::native
