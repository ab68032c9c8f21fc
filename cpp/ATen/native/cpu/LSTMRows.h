// Mirrors: aten/src/ATen/native/cuda/RNN.cu (lstm_cell_forward, lstm_cell_backward)
//
// The arithmetic of a fused LSTM cell on one sequence of the batch: four gates of H numbers each lead from the cell
// state cx, H numbers, to the next states cy and hy. The naive rung comes first, with the formulas of
// LSTMCellFunctors.h; then the fast one, whose functions VectorMath.h has, so that the compiler makes vector
// instructions of the loop.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/cpu/vec/VectorMath.h>
#include <ATen/native/LSTMCellFunctors.h>
#include <ATen/native/cpu/Loops.h>

#include <algorithm>
#include <cmath>

namespace reftorch::at::native {

template <typename T>
void lstm_cell_naive(T* hy, T* cy, T* workspace, const T* input_gates, const T* hidden_gates, const T* cx, int64_t H) {
  for (int64_t j = 0; j < H; j++) {
    lstm_cell_element(hy + j, cy + j, workspace + j, input_gates + j, hidden_gates + j, cx + j, H);
  }
}

template <typename T>
void lstm_cell_backward_naive(T* grad_gates, T* grad_cx, const T* grad_hy, const T* grad_cy, const T* cx, const T* cy,
                              const T* workspace, int64_t H) {
  for (int64_t j = 0; j < H; j++) {
    lstm_cell_backward_element(grad_gates + j, grad_cx + j, grad_hy + j, grad_cy + j, cx + j, cy + j, workspace + j, H);
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
