// Mirrors: aten/src/ATen/native/LossMultiMargin.cpp, aten/src/ATen/native/LossMultiLabelMargin.cpp (their loops)
//
// Plain loops over the examples, one after the other. Forward and backward of a loss stand next to each other.
#include <ATen/Dispatch.h>
#include <ATen/TypePromotion.h>
#include <ATen/native/Loss.h>
#include <ATen/native/LossMultiMargin.h>

#include <algorithm>

namespace reftorch::at::native {
namespace {

int64_t classes_of(const Tensor& input) {
  return input.dim() == 0 ? 1 : input.sizes().back();
}

// Writes the losses of the examples, or their reduction. loss_of(n) is the loss of example n.
template <typename scalar_t, typename Loss>
void write_losses(const Tensor& output, int64_t N, int64_t reduction, const Loss& loss_of) {
  scalar_t* out = output.data_ptr<scalar_t>();
  if (reduction == Reduction::None && output.dim() > 0) {
    for (int64_t n = 0; n < N; n++) {
      out[n] = static_cast<scalar_t>(loss_of(n));
    }
    return;
  }
  double sum = 0;
  for (int64_t n = 0; n < N; n++) {
    sum += loss_of(n);
  }
  *out = static_cast<scalar_t>(reduction == Reduction::Mean ? sum / static_cast<double>(N) : sum);
}

// Multiplies each row of grad_input (N, C) by its gradient: one number for all rows, or one for each row.
template <typename scalar_t>
void scale_margin_rows(const Tensor& grad_input, const Tensor& grad_output, int64_t N, int64_t C) {
  scalar_t* dx = grad_input.data_ptr<scalar_t>();
  const scalar_t* grad = grad_output.data_ptr<scalar_t>();
  const int64_t step = grad_output.numel() == 1 ? 0 : 1;
  for (int64_t n = 0; n < N; n++) {
    for (int64_t c = 0; c < C; c++) {
      dx[n * C + c] *= grad[n * step];
    }
  }
}

int64_t checked_margin_class(int64_t target, int64_t C) {
  TORCH_CHECK(target >= 0 && target < C, "target out of range");
  return target;
}

// --- one right class -------------------------------------------------------------------------------------------------

// input: (N, C), target: (N), weight: (C) or undefined, output: (N) or ()
void multi_margin_loss_kernel(const Tensor& output, const Tensor& input, const Tensor& target, const Tensor& weight,
                              int64_t p, double margin_, int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  const int64_t* classes = target.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "multi_margin_loss_cpu_kernel", [&] {
    const scalar_t* w = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const scalar_t margin = static_cast<scalar_t>(margin_);
    write_losses<scalar_t>(output, N, reduction, [&](int64_t n) {
      const scalar_t* x = input.data_ptr<scalar_t>() + n * C;
      const int64_t y = checked_margin_class(classes[n], C);
      scalar_t sum = 0;
      for (int64_t c = 0; c < C; c++) {
        const scalar_t short_of = margin - x[y] + x[c];
        if (c != y && short_of > 0) {
          const scalar_t loss = p == 1 ? short_of : short_of * short_of;
          sum += w != nullptr ? loss * w[y] : loss;
        }
      }
      return static_cast<double>(sum / static_cast<scalar_t>(C));
    });
  });
}

// grad_input: (N, C), grad_output: (N) or ()
void multi_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                                       const Tensor& target, const Tensor& weight, int64_t p, double margin_,
                                       int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  const int64_t* classes = target.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "multi_margin_loss_backward_cpu_kernel", [&] {
    const scalar_t* w = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const scalar_t margin = static_cast<scalar_t>(margin_);
    const scalar_t share = static_cast<scalar_t>(1. / static_cast<double>(reduction == Reduction::Mean ? N * C : C));
    for (int64_t n = 0; n < N; n++) {
      const scalar_t* x = input.data_ptr<scalar_t>() + n * C;
      scalar_t* dx = grad_input.data_ptr<scalar_t>() + n * C;
      const int64_t y = checked_margin_class(classes[n], C);
      scalar_t of_right = 0; // the right class loses what the wrong classes gain
      for (int64_t c = 0; c < C; c++) {
        const scalar_t short_of = margin - x[y] + x[c];
        scalar_t slope = 0;
        if (c != y && short_of > 0) {
          slope = p == 1 ? share : 2 * share * short_of;
          slope = w != nullptr ? slope * w[y] : slope;
        }
        dx[c] = slope;
        of_right -= slope;
      }
      dx[y] = of_right;
    }
    scale_margin_rows<scalar_t>(grad_input, grad_output, N, C);
  });
}

// --- several right classes -------------------------------------------------------------------------------------------

// target: (N, C), of any dtype. argument: the position of target in the op's schema, for the error
void check_margin_labels(const Tensor& target, int64_t C, int argument) {
  const Tensor as_int64 = target.scalar_type() == kLong ? target : cast_to_dtype(target, kLong);
  const int64_t* labels = as_int64.data_ptr<int64_t>();
  const bool fit =
      std::all_of(labels, labels + target.numel(), [C](int64_t label) { return label >= -1 && label < C; });
  TORCH_CHECK(fit, "argument #", argument, " 'target' is out of range");
}

// The number of labels before the first -1, which ends the list of an example. labels: (C)
int64_t count_labels(const int64_t* labels, int64_t C) {
  return std::find_if(labels, labels + C, [](int64_t label) { return label < 0; }) - labels;
}

// input, target, is_target: (N, C); output: (N) or ()
void multilabel_margin_loss_kernel(const Tensor& output, const Tensor& is_target, const Tensor& input,
                                   const Tensor& target, int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  check_margin_labels(target, C, 2);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "multilabel_margin_loss_forward_out_frame", [&] {
    write_losses<scalar_t>(output, N, reduction, [&](int64_t n) {
      const scalar_t* x = input.data_ptr<scalar_t>() + n * C;
      const int64_t* labels = target.data_ptr<int64_t>() + n * C;
      scalar_t* is_right = is_target.data_ptr<scalar_t>() + n * C;
      const int64_t count = count_labels(labels, C);
      for (int64_t k = 0; k < count; k++) {
        is_right[labels[k]] = 1;
      }
      double sum = 0;
      for (int64_t k = 0; k < count; k++) {
        for (int64_t c = 0; c < C; c++) {
          if (is_right[c] == 0) {
            const scalar_t short_of = scalar_t(1) - x[labels[k]] + x[c];
            sum += short_of > 0 ? short_of : scalar_t(0);
          }
        }
      }
      return sum / static_cast<double>(C);
    });
  });
}

// grad_input: (N, C), grad_output: (N) or ()
void multilabel_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                                            const Tensor& target, const Tensor& is_target, int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  check_margin_labels(target, C, 3);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "multilabel_margin_loss_backward_out_frame", [&] {
    const scalar_t* marks = is_target.data_ptr<scalar_t>();
    const bool are_marks = std::all_of(marks, marks + is_target.numel(), [](scalar_t m) { return m >= 0 && m <= 1; });
    TORCH_CHECK(are_marks, "argument #5 'is_target' is out of range");
    const scalar_t share = static_cast<scalar_t>(1. / static_cast<double>(reduction == Reduction::Mean ? N * C : C));
    for (int64_t n = 0; n < N; n++) {
      const scalar_t* x = input.data_ptr<scalar_t>() + n * C;
      const int64_t* labels = target.data_ptr<int64_t>() + n * C;
      const scalar_t* is_right = is_target.data_ptr<scalar_t>() + n * C;
      scalar_t* dx = grad_input.data_ptr<scalar_t>() + n * C;
      const int64_t count = count_labels(labels, C);
      for (int64_t k = 0; k < count; k++) {
        for (int64_t c = 0; c < C; c++) {
          if (is_right[c] == 0 && scalar_t(1) - x[labels[k]] + x[c] > 0) {
            dx[labels[k]] -= share;
            dx[c] += share;
          }
        }
      }
    }
    scale_margin_rows<scalar_t>(grad_input, grad_output, N, C);
  });
}

} // namespace

REGISTER_CPU_DISPATCH(multi_margin_loss_stub, multi_margin_loss_kernel)
REGISTER_CPU_DISPATCH(multi_margin_loss_backward_stub, multi_margin_loss_backward_kernel)
REGISTER_CPU_DISPATCH(multilabel_margin_loss_stub, multilabel_margin_loss_kernel)
REGISTER_CPU_DISPATCH(multilabel_margin_loss_backward_stub, multilabel_margin_loss_backward_kernel)

} // namespace reftorch::at::native
