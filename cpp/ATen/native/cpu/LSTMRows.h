// Mirrors: aten/src/ATen/native/cuda/RNN.cu (lstm_cell_forward, lstm_cell_backward)
//
// The arithmetic of a fused LSTM cell on one sequence of the batch: four gates of H numbers each lead from the cell
// state cx, H numbers, to the next states cy and hy. The naive rung comes first, then the fast one, whose functions
// VectorMath.h has, so that the compiler makes vector instructions of the loop.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/VectorMath.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {

// i, f, g, o = input_gates + hidden_gates, which stand one after the other; workspace may be the memory of input_gates
// cy = sigmoid(f) cx + sigmoid(i) tanh(g)
// hy = sigmoid(o) tanh(cy)
// workspace: the four gates after sigmoid and tanh
template <typename T>
void lstm_cell_naive(T* hy, T* cy, T* workspace, const T* input_gates, const T* hidden_gates, const T* cx, int64_t H) {
  const auto sigmoid = [](T x) { return T(1) / (T(1) + std::exp(-x)); };
  for (int64_t j = 0; j < H; j++) {
    T gates[4];
    for (int64_t k = 0; k < 4; k++) {
      const T sum = input_gates[k * H + j] + hidden_gates[k * H + j];
      gates[k] = k == 2 ? std::tanh(sum) : sigmoid(sum);
      workspace[k * H + j] = gates[k];
    }
    cy[j] = gates[1] * cx[j] + gates[0] * gates[2];
    hy[j] = gates[3] * std::tanh(cy[j]);
  }
}

// With s = sigmoid(x) and t = tanh(x): s' = s (1 - s) and t' = 1 - t^2. The state cy is read twice, by hy and by the
// next step, so its gradient is a sum.
template <typename T>
void lstm_cell_backward_naive(T* grad_gates, T* grad_cx, const T* grad_hy, const T* grad_cy, const T* cx, const T* cy,
                              const T* workspace, int64_t H) {
  for (int64_t j = 0; j < H; j++) {
    const T i = workspace[j], f = workspace[H + j], g = workspace[2 * H + j], o = workspace[3 * H + j];
    const T t = std::tanh(cy[j]);
    const T grad_c = grad_cy[j] + grad_hy[j] * o * (1 - t * t);
    grad_gates[j] = grad_c * g * i * (1 - i);
    grad_gates[H + j] = grad_c * cx[j] * f * (1 - f);
    grad_gates[2 * H + j] = grad_c * i * (1 - g * g);
    grad_gates[3 * H + j] = grad_hy[j] * t * o * (1 - o);
    grad_cx[j] = grad_c * f;
  }
}

template <typename T>
VECTOR_MATH T vec_sigmoid(T x) {
  return T(1) / (T(1) + vec_exp(-x));
}

template <typename T>
TARGET_CLONES static void lstm_cell_row(T* hy, T* cy, T* workspace, const T* input_gates, const T* hidden_gates,
                                        const T* cx, int64_t H) {
#pragma omp simd
  for (int64_t j = 0; j < H; j++) {
    const T i = vec_sigmoid(input_gates[j] + hidden_gates[j]);
    const T f = vec_sigmoid(input_gates[H + j] + hidden_gates[H + j]);
    const T g = vec_tanh(input_gates[2 * H + j] + hidden_gates[2 * H + j]);
    const T o = vec_sigmoid(input_gates[3 * H + j] + hidden_gates[3 * H + j]);
    const T c = f * cx[j] + i * g;
    workspace[j] = i;
    workspace[H + j] = f;
    workspace[2 * H + j] = g;
    workspace[3 * H + j] = o;
    cy[j] = c;
    hy[j] = o * vec_tanh(c);
  }
}

template <typename T>
TARGET_CLONES static void lstm_cell_backward_row(T* grad_gates, T* grad_cx, const T* grad_hy, const T* grad_cy,
                                                 const T* cx, const T* cy, const T* workspace, int64_t H) {
#pragma omp simd
  for (int64_t j = 0; j < H; j++) {
    const T i = workspace[j], f = workspace[H + j], g = workspace[2 * H + j], o = workspace[3 * H + j];
    const T t = vec_tanh(cy[j]);
    const T grad_c = grad_cy[j] + grad_hy[j] * o * (1 - t * t);
    grad_gates[j] = grad_c * g * i * (1 - i);
    grad_gates[H + j] = grad_c * cx[j] * f * (1 - f);
    grad_gates[2 * H + j] = grad_c * i * (1 - g * g);
    grad_gates[3 * H + j] = grad_hy[j] * t * o * (1 - o);
    grad_cx[j] = grad_c * f;
  }
}

// Calls f(b) for each sequence b of a batch of B with H numbers of state. A large batch is split among threads.
template <typename F>
void for_each_sequence(int64_t B, int64_t H, const F& f) {
  const int64_t grain = std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(16 * H, 1));
  parallel_for(0, B, grain, [&](int64_t lo, int64_t hi) {
    for (int64_t b = lo; b < hi; b++) {
      f(b);
    }
  });
}

} // namespace reftorch::at::native
