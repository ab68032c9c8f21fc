// Mirrors: aten/src/ATen/native/LossCTC.cpp, aten/src/ATen/native/cuda/LossCTC.cu
//
// The steps of the CTC loss, which the kernels of the CPU and of CUDA share.
//
// Note [CTC]
//     A path is a label for each step; the path spells a target if the target remains after repeated labels are joined
//     and blanks are removed. Let l' be the target with a blank before, between and after its labels: 2 S + 1 labels.
//     A path is then a walk along l' that stays, goes on to the next label, or leaves out a blank between two labels
//     that differ. With y[t, c] = exp(log_probs[t, c]),
//
//         alpha[t, s] = (alpha[t-1, s] + alpha[t-1, s-1] + alpha[t-1, s-2]) y[t, l'[s]]
//
//     is the probability of all walks that are at s at step t, where the third term exists only if l'[s] is a label
//     that differs from l'[s-2]. The walks that end at one of the last two positions are those of the target:
//     loss = -log(alpha[T-1, 2S] + alpha[T-1, 2S-1]). Backwards, beta[t, s] is the probability of all walks from s at
//     step t to the end, that of step t included, so alpha[t, s] beta[t, s] / y[t, l'[s]] is the probability of the
//     walks through s at t. The sum of these over the positions of label c, divided by that of the target, says how
//     often label c is used at step t, and minus this number is the derivative of the loss by log_probs[t, c]. As in
//     PyTorch, the kernel adds y[t, c]: the result is the gradient behind log_softmax, where the second term is what
//     log_softmax's own backward would subtract. All probabilities are logarithms, so that small ones do not vanish.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>

namespace reftorch::at::native::ctc {

// log(exp(a) + exp(b))
template <typename T>
C10_HOST_DEVICE T log_add(T a, T b) {
  const T larger = a < b ? b : a;
  return std::isinf(larger) && larger < 0 ? larger : larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

// The target of one sequence with a blank before, between and after its labels.
struct WithBlanks {
  const int64_t* labels;
  int64_t blank;

  C10_HOST_DEVICE int64_t operator[](int64_t s) const {
    return s % 2 == 0 ? blank : labels[s / 2];
  }
  // Whether a walk can come to position s from position s - 2.
  C10_HOST_DEVICE bool can_skip_to(int64_t s) const {
    return s % 2 == 1 && s >= 2 && labels[s / 2] != labels[s / 2 - 1];
  }
};

// The walks that come to position s: `last` is alpha of the step before. The probability of the label is not included.
template <typename T>
C10_HOST_DEVICE T walks_to(const T* last, const WithBlanks& label, int64_t s) {
  T sum = last[s];
  sum = s >= 1 ? log_add(sum, last[s - 1]) : sum;
  return label.can_skip_to(s) ? log_add(sum, last[s - 2]) : sum;
}

// The walks that go on from position s of `end` positions: `next` is beta of the step after.
template <typename T>
C10_HOST_DEVICE T walks_from(const T* next, const WithBlanks& label, int64_t s, int64_t end) {
  T sum = next[s];
  sum = s + 1 < end ? log_add(sum, next[s + 1]) : sum;
  return s + 2 < end && label.can_skip_to(s + 2) ? log_add(sum, next[s + 2]) : sum;
}

// The loss, from alpha of the last step.
template <typename T>
C10_HOST_DEVICE T loss_of_walks(const T* last, int64_t end) {
  return -(end >= 2 ? log_add(last[end - 1], last[end - 2]) : last[end - 1]);
}

// The gradient behind log_softmax at a label: y is its log-probability, used the logarithm of the probability of all
// walks through the label.
template <typename T>
C10_HOST_DEVICE T gradient(T y, T used, T loss, T grad) {
  return (std::exp(y) - std::exp(used + loss - y)) * grad;
}

} // namespace reftorch::at::native::ctc
