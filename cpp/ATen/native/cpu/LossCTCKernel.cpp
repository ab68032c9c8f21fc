// Mirrors: aten/src/ATen/native/LossCTC.cpp (its kernels)
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
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/LossCTC.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

// log(exp(a) + exp(b))
template <typename T>
T log_add(T a, T b) {
  const T larger = std::max(a, b);
  return std::isinf(larger) && larger < 0 ? larger : larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

// The target of one sequence with a blank before, between and after its labels.
struct WithBlanks {
  const int64_t* labels;
  int64_t blank;

  int64_t operator[](int64_t s) const {
    return s % 2 == 0 ? blank : labels[s / 2];
  }
  // Whether a walk can come to position s from position s - 2.
  bool can_skip_to(int64_t s) const {
    return s % 2 == 1 && s >= 2 && labels[s / 2] != labels[s / 2 - 1];
  }
};

WithBlanks target_of(const Tensor& targets, const CTCShape& shape, int64_t b) {
  const int64_t* labels = targets.data_ptr<int64_t>() + shape.target_offsets[b];
  for (int64_t i = 0; i < shape.target_lengths[b]; i++) {
    TORCH_CHECK(labels[i] >= 0 && labels[i] < shape.C, "ctc_loss: expected labels from 0 to ", shape.C - 1,
                ", the number of classes of log_probs without one, but got ", labels[i]);
  }
  return {labels, shape.blank};
}

// One sequence. log_probs: (T, B, C), read at sequence b; alpha: (T, 2 S + 1). Returns the loss.
template <typename T>
T forward_alpha(T* alpha, const T* log_probs, const WithBlanks& label, int64_t b, const CTCShape& shape) {
  const T kNothing = -std::numeric_limits<T>::infinity();
  const int64_t steps = shape.input_lengths[b], width = 2 * shape.S + 1, end = 2 * shape.target_lengths[b] + 1;
  std::fill(alpha, alpha + shape.T * width, kNothing);
  if (steps == 0) {
    return shape.target_lengths[b] == 0 ? T(0) : -kNothing;
  }
  const auto y = [&](int64_t t, int64_t s) { return log_probs[(t * shape.B + b) * shape.C + label[s]]; };
  for (int64_t s = 0; s < std::min<int64_t>(end, 2); s++) {
    alpha[s] = y(0, s);
  }
  for (int64_t t = 1; t < steps; t++) {
    const T* last = alpha + (t - 1) * width;
    for (int64_t s = 0; s < end; s++) {
      T sum = last[s];
      sum = s >= 1 ? log_add(sum, last[s - 1]) : sum;
      sum = label.can_skip_to(s) ? log_add(sum, last[s - 2]) : sum;
      alpha[t * width + s] = sum + y(t, s);
    }
  }
  const T* last = alpha + (steps - 1) * width;
  return -(end >= 2 ? log_add(last[end - 1], last[end - 2]) : last[end - 1]);
}

// One sequence. grad_input, log_probs: (T, B, C), at sequence b; alpha: (T, 2 S + 1); used: (C). beta is needed for one
// step at a time: (2 S + 1), and the same for the step after it.
template <typename T>
void backward_beta(T* grad_input, T grad, const T* log_probs, const T* alpha, T loss, const WithBlanks& label,
                   int64_t b, const CTCShape& shape) {
  const T kNothing = -std::numeric_limits<T>::infinity();
  const int64_t steps = shape.input_lengths[b], width = 2 * shape.S + 1, end = 2 * shape.target_lengths[b] + 1;
  Scratch<T> beta(end), next(end), used(shape.C);
  for (int64_t t = steps - 1; t >= 0; t--) {
    const int64_t row = (t * shape.B + b) * shape.C;
    std::fill(used.begin(), used.end(), kNothing);
    for (int64_t s = 0; s < end; s++) {
      T sum = kNothing;
      if (t == steps - 1) {
        sum = s >= end - 2 ? T(0) : kNothing;
      } else {
        sum = next[s];
        sum = s + 1 < end ? log_add(sum, next[s + 1]) : sum;
        sum = s + 2 < end && label.can_skip_to(s + 2) ? log_add(sum, next[s + 2]) : sum;
      }
      beta[s] = sum + log_probs[row + label[s]];
      T& through = used[label[s]];
      through = log_add(through, alpha[t * width + s] + beta[s]);
    }
    for (int64_t c = 0; c < shape.C; c++) {
      const T y = log_probs[row + c];
      grad_input[row + c] = (std::exp(y) - std::exp(used[c] + loss - y)) * grad;
    }
    std::copy(beta.begin(), beta.end(), next.begin());
  }
}

void ctc_loss_kernel(const Tensor& loss, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                     const CTCShape& shape) {
  AT_DISPATCH_FLOATING_TYPES(log_probs.scalar_type(), "ctc_loss_cpu", [&] {
    parallel_for(0, shape.B, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t b = lo; b < hi; b++) {
        scalar_t* alpha = log_alpha.data_ptr<scalar_t>() + b * shape.T * (2 * shape.S + 1);
        loss.data_ptr<scalar_t>()[b] =
            forward_alpha(alpha, log_probs.data_ptr<scalar_t>(), target_of(targets, shape, b), b, shape);
      }
    });
  });
}

void ctc_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad, const Tensor& log_probs,
                              const Tensor& targets, const Tensor& loss, const Tensor& log_alpha, const CTCShape& shape,
                              bool zero_infinity) {
  AT_DISPATCH_FLOATING_TYPES(log_probs.scalar_type(), "ctc_loss_backward_cpu", [&] {
    parallel_for(0, shape.B, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t b = lo; b < hi; b++) {
        const scalar_t loss_of_b = loss.data_ptr<scalar_t>()[b];
        if (zero_infinity && std::isinf(loss_of_b)) {
          continue; // the gradient stays zero
        }
        const scalar_t* alpha = log_alpha.data_ptr<scalar_t>() + b * shape.T * (2 * shape.S + 1);
        backward_beta(grad_input.data_ptr<scalar_t>(), grad.data_ptr<scalar_t>()[b], log_probs.data_ptr<scalar_t>(),
                      alpha, loss_of_b, target_of(targets, shape, b), b, shape);
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(ctc_loss_stub, ctc_loss_kernel)
REGISTER_CPU_DISPATCH(ctc_loss_backward_stub, ctc_loss_backward_kernel)

} // namespace reftorch::at::native
