// Mirrors: aten/src/ATen/native/LossCTC.cpp (its kernels)
//
// See Note [CTC] in LossCTCFunctors.h. The threads share the sequences of the batch.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/LossCTC.h>
#include <ATen/native/LossCTCFunctors.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace reftorch::at::native {
namespace {

ctc::WithBlanks target_of(const Tensor& targets, const CTCShape& shape, int64_t b) {
  const int64_t* labels = targets.data_ptr<int64_t>() + shape.target_offsets[b];
  for (int64_t i = 0; i < shape.target_lengths[b]; i++) {
    TORCH_CHECK(labels[i] >= 0 && labels[i] < shape.C, "ctc_loss: expected labels from 0 to ", shape.C - 1,
                ", the number of classes of log_probs without one, but got ", labels[i]);
  }
  return {labels, shape.blank};
}

// One sequence. log_probs: (T, B, C), read at sequence b; alpha: (T, 2 S + 1). Returns the loss.
template <typename T>
T forward_alpha(T* alpha, const T* log_probs, const ctc::WithBlanks& label, int64_t b, const CTCShape& shape) {
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
      alpha[t * width + s] = ctc::walks_to(last, label, s) + y(t, s);
    }
  }
  return ctc::loss_of_walks(alpha + (steps - 1) * width, end);
}

// One sequence. grad_input, log_probs: (T, B, C), at sequence b; alpha: (T, 2 S + 1); used: (C). beta is needed for one
// step at a time: (2 S + 1), and the same for the step after it.
template <typename T>
void backward_beta(T* grad_input, T grad, const T* log_probs, const T* alpha, T loss, const ctc::WithBlanks& label,
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
        sum = ctc::walks_from(next.begin(), label, s, end);
      }
      beta[s] = sum + log_probs[row + label[s]];
      T& through = used[label[s]];
      through = ctc::log_add(through, alpha[t * width + s] + beta[s]);
    }
    for (int64_t c = 0; c < shape.C; c++) {
      grad_input[row + c] = ctc::gradient(log_probs[row + c], used[c], loss, grad);
    }
    std::copy(beta.begin(), beta.end(), next.begin());
  }
}

void ctc_loss_kernel(const Tensor& loss, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                     const CTCShape& shape) {
  dispatch<FloatingTypes>(log_probs.scalar_type(), "ctc_loss_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
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
  dispatch<FloatingTypes>(log_probs.scalar_type(), "ctc_loss_backward_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
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
