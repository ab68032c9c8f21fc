// Mirrors: aten/src/ATen/native/cuda/RNN.cu (lstm_cell_forward, lstm_cell_backward)
//
// The arithmetic of one number of state of a fused LSTM cell. The naive rung of the CPU and the kernel of CUDA run the
// same text. The pointers are to the number of state; its four gates are H elements apart.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>

namespace reftorch::at::native {

// [i, f, g, o] = input_gates + hidden_gates; workspace may be the memory of input_gates
// cy = sigmoid(f) cx + sigmoid(i) tanh(g)
// hy = sigmoid(o) tanh(cy)
// workspace: the four gates after sigmoid and tanh
template <typename T>
C10_HOST_DEVICE void lstm_cell_element(T* hy, T* cy, T* workspace, const T* input_gates, const T* hidden_gates,
                                       const T* cx, int64_t H) {
  T gates[4];
  for (int64_t k = 0; k < 4; k++) {
    const T sum = input_gates[k * H] + hidden_gates[k * H];
    gates[k] = k == 2 ? std::tanh(sum) : T(1) / (T(1) + std::exp(-sum));
    workspace[k * H] = gates[k];
  }
  *cy = gates[1] * *cx + gates[0] * gates[2];
  *hy = gates[3] * std::tanh(*cy);
}

// With s = sigmoid(x) and t = tanh(x): s' = s (1 - s) and t' = 1 - t^2. The state cy is read twice, by hy and by the
// next step, so its gradient is a sum.
template <typename T>
C10_HOST_DEVICE void lstm_cell_backward_element(T* grad_gates, T* grad_cx, const T* grad_hy, const T* grad_cy,
                                                const T* cx, const T* cy, const T* workspace, int64_t H) {
  const T i = workspace[0], f = workspace[H], g = workspace[2 * H], o = workspace[3 * H];
  const T t = std::tanh(*cy);
  const T grad_c = *grad_cy + *grad_hy * o * (1 - t * t);
  grad_gates[0] = grad_c * g * i * (1 - i);
  grad_gates[H] = grad_c * *cx * f * (1 - f);
  grad_gates[2 * H] = grad_c * i * (1 - g * g);
  grad_gates[3 * H] = *grad_hy * t * o * (1 - o);
  *grad_cx = grad_c * f;
}

} // namespace reftorch::at::native
