// Mirrors: aten/src/ATen/native/mkldnn/RNN.cpp (lstm_mkldnn_stub)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// T steps, B sequences, I numbers of input and H of state. All tensors are contiguous and have one dtype, float or
// double. A layer that is reversed runs from the last step to the first.
//
// input: (T, B, I); w_ih: (4 H, I); bias: (4 H), the sum of both biases; w_hh: (4 H, H); hx, cx: (B, H)
// Results: the states of all steps, hidden and cells: (T, B, H); the gates after sigmoid and tanh: (T, B, 4 H)
using lstm_layer_fn = void (*)(const Tensor& hidden, const Tensor& cells, const Tensor& gates, const Tensor& input,
                               const Tensor& w_ih, const Tensor& bias, const Tensor& w_hh, const Tensor& hx,
                               const Tensor& cx, bool reverse);

// grad_hidden: (T, B, H), or undefined for zeros.
// Results: grad_gates: (T, B, 4 H), the gradient of the gates before sigmoid and tanh. grad_h and grad_c, (B, H), hold
// the gradients of the last states at the call, and those of hx and cx at the return.
using lstm_layer_backward_fn = void (*)(const Tensor& grad_gates, const Tensor& grad_h, const Tensor& grad_c,
                                        const Tensor& grad_hidden, const Tensor& cells, const Tensor& gates,
                                        const Tensor& w_hh, const Tensor& cx, bool reverse);
DECLARE_DISPATCH(lstm_layer_fn, lstm_layer_stub)
DECLARE_DISPATCH(lstm_layer_backward_fn, lstm_layer_backward_stub)

} // namespace reftorch::at::native
