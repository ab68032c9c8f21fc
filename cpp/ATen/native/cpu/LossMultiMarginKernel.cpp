// Mirrors: aten/src/ATen/native/LossMultiMargin.cpp, aten/src/ATen/native/LossMultiLabelMargin.cpp (their loops)
//
// Plain loops over the examples, one after the other. The loss of an example is in LossMultiMarginFunctors.h. The
// forward of each loss is followed by its backward.
#include <ATen/Dispatch.h>
#include <ATen/TypePromotion.h>
#include <ATen/native/Loss.h>
#include <ATen/native/LossMultiMargin.h>
#include <ATen/native/LossMultiMarginFunctors.h>

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

// The share of a class in the loss.
template <typename scalar_t>
scalar_t share_of(int64_t N, int64_t C, int64_t reduction) {
  return static_cast<scalar_t>(1. / static_cast<double>(reduction == Reduction::Mean ? N * C : C));
}

// The gradient of the loss of example n: one number for all examples, or one for each.
template <typename scalar_t>
scalar_t gradient_of(const Tensor& grad_output, int64_t n) {
  return grad_output.data_ptr<scalar_t>()[grad_output.numel() == 1 ? 0 : n];
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
  dispatch<FloatingTypes>(input.scalar_type(), "multi_margin_loss_cpu_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const margin::Options<scalar_t> options{C, p, static_cast<scalar_t>(margin_),
                                            weight.defined() ? weight.data_ptr<scalar_t>() : nullptr};
    write_losses<scalar_t>(output, N, reduction, [&](int64_t n) {
      return margin::loss(input.data_ptr<scalar_t>() + n * C, checked_margin_class(classes[n], C), options);
    });
  });
}

// grad_input: (N, C), grad_output: (N) or ()
void multi_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                                       const Tensor& target, const Tensor& weight, int64_t p, double margin_,
                                       int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  const int64_t* classes = target.data_ptr<int64_t>();
  dispatch<FloatingTypes>(input.scalar_type(), "multi_margin_loss_backward_cpu_kernel", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const margin::Options<scalar_t> options{C, p, static_cast<scalar_t>(margin_),
                                            weight.defined() ? weight.data_ptr<scalar_t>() : nullptr};
    for (int64_t n = 0; n < N; n++) {
      margin::loss_backward(grad_input.data_ptr<scalar_t>() + n * C, input.data_ptr<scalar_t>() + n * C,
                            checked_margin_class(classes[n], C), share_of<scalar_t>(N, C, reduction),
                            gradient_of<scalar_t>(grad_output, n), options);
    }
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

// input, target, is_target: (N, C); output: (N) or ()
void multilabel_margin_loss_kernel(const Tensor& output, const Tensor& is_target, const Tensor& input,
                                   const Tensor& target, int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  check_margin_labels(target, C, 2);
  dispatch<FloatingTypes>(input.scalar_type(), "multilabel_margin_loss_forward_out_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    write_losses<scalar_t>(output, N, reduction, [&](int64_t n) {
      return margin::multilabel_loss(is_target.data_ptr<scalar_t>() + n * C, input.data_ptr<scalar_t>() + n * C,
                                     target.data_ptr<int64_t>() + n * C, C);
    });
  });
}

// grad_input: (N, C), grad_output: (N) or ()
void multilabel_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& input,
                                            const Tensor& target, const Tensor& is_target, int64_t reduction) {
  const int64_t C = classes_of(input), N = input.numel() / C;
  check_margin_labels(target, C, 3);
  dispatch<FloatingTypes>(input.scalar_type(), "multilabel_margin_loss_backward_out_frame", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* marks = is_target.data_ptr<scalar_t>();
    const bool are_marks = std::all_of(marks, marks + is_target.numel(), [](scalar_t m) { return m >= 0 && m <= 1; });
    TORCH_CHECK(are_marks, "argument #5 'is_target' is out of range");
    for (int64_t n = 0; n < N; n++) {
      margin::multilabel_loss_backward(grad_input.data_ptr<scalar_t>() + n * C, input.data_ptr<scalar_t>() + n * C,
                                       target.data_ptr<int64_t>() + n * C, marks + n * C,
                                       share_of<scalar_t>(N, C, reduction), gradient_of<scalar_t>(grad_output, n), C);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(multi_margin_loss_stub, multi_margin_loss_kernel)
REGISTER_CPU_DISPATCH(multi_margin_loss_backward_stub, multi_margin_loss_backward_kernel)
REGISTER_CPU_DISPATCH(multilabel_margin_loss_stub, multilabel_margin_loss_kernel)
REGISTER_CPU_DISPATCH(multilabel_margin_loss_backward_stub, multilabel_margin_loss_backward_kernel)

} // namespace reftorch::at::native
