// Mirrors: aten/src/ATen/native/LossMultiMargin.cpp, aten/src/ATen/native/LossMultiLabelMargin.cpp
//
// Margin losses of classes: a loss arises where the score of a wrong class comes closer than a margin to the score of a
// right class. multi_margin_loss has one right class for each example, multilabel_margin_loss has several.
#include <ATen/native/LossMultiMargin.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/Loss.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(multi_margin_loss_stub)
DEFINE_DISPATCH(multi_margin_loss_backward_stub)
DEFINE_DISPATCH(multilabel_margin_loss_stub)
DEFINE_DISPATCH(multilabel_margin_loss_backward_stub)

namespace {

using OptionalTensor = std::optional<Tensor>;

struct MarginShape {
  int64_t N, C;
};

// input: (N, C), (C) or ()
MarginShape margin_shape(const Tensor& input) {
  const int64_t ndims = input.dim();
  TORCH_CHECK((ndims == 2 && input.sizes()[1] != 0) || (ndims == 1 && input.sizes()[0] != 0) || ndims == 0,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", input.sizes());
  return ndims == 2 ? MarginShape{input.sizes()[0], input.sizes()[1]}
                    : MarginShape{1, ndims == 0 ? 1 : input.sizes()[0]};
}

bool has_margin_kernel(const Tensor& input) {
  return input.scalar_type() == kFloat || input.scalar_type() == kDouble;
}

void check_label_dtype(const Tensor& target) {
  TORCH_CHECK(target.scalar_type() == kLong, "expected scalar type Long but found ", toString(target.scalar_type()));
}

void check_margin_dtypes(const char* kernel, const Tensor& input, const Tensor& target) {
  TORCH_CHECK_NOT_IMPLEMENTED(has_margin_kernel(input), "\"", kernel, "\" not implemented for '", input.scalar_type(),
                              "'");
  check_label_dtype(target);
}

void check_dtype_of(const Tensor& t, const Tensor& input) {
  TORCH_CHECK(t.scalar_type() == input.scalar_type(), "expected scalar type ", toString(input.scalar_type()),
              " but found ", toString(t.scalar_type()));
}

Tensor new_of(IntArrayRef sizes, const Tensor& like) {
  return detail::empty_generic(sizes, like.scalar_type(), like.device());
}

void check_margin_grad(const Tensor& grad_output, const Tensor& target, int64_t N, int64_t reduction,
                       bool per_example) {
  const int64_t expected = reduction == Reduction::None && per_example ? N : 1;
  TORCH_CHECK(grad_output.numel() == expected, "expected grad_output of ", expected, " elements for target of shape ",
              target.sizes(), ", but got shape ", grad_output.sizes());
}

// --- one right class -------------------------------------------------------------------------------------------------

MarginShape check_multi_margin(const Tensor& input, const Tensor& target, const Scalar& p, const Tensor& weight) {
  TORCH_CHECK(p.toDouble() == 1 || p.toDouble() == 2, "only p == 1 and p == 2 supported");
  const MarginShape shape = margin_shape(input);
  TORCH_CHECK(target.dim() <= 1 && target.numel() == shape.N,
              "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
              "size). Expected target size [",
              shape.N, "], but got ", target.sizes(), ". Input has shape ", input.sizes(), ".");
  if (weight.defined()) {
    TORCH_CHECK(weight.dim() <= 1 && weight.numel() == shape.C, "inconsistent weight size, expected ", shape.C,
                " but got ", weight.sizes());
  }
  return shape;
}

// loss = sum_{i != y} weight_y max(0, margin - x_y + x_i)^p / C
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const OptionalTensor& opt_weight, int64_t reduction) {
  const Tensor weight = opt_weight.value_or(Tensor());
  const MarginShape shape = check_multi_margin(self, target, p, weight);
  const bool per_example = reduction == Reduction::None && target.dim() > 0;
  Tensor output = new_of(per_example ? IntArrayRef(shape.N) : IntArrayRef(), self);
  if (self.numel() == 0) {
    return output;
  }
  check_margin_dtypes("multi_margin_loss_cpu_kernel", self, target);
  if (weight.defined()) {
    check_dtype_of(weight, self);
  }
  multi_margin_loss_stub(self.device().type(), output, self.contiguous(), target.contiguous(),
                         weight.defined() ? weight.contiguous() : weight, p.toLong(), margin.toDouble(), reduction);
  return output;
}

Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p,
                                  const Scalar& margin, const OptionalTensor& opt_weight, int64_t reduction) {
  const Tensor weight = opt_weight.value_or(Tensor());
  const MarginShape shape = check_multi_margin(self, target, p, weight);
  Tensor grad_input = new_of(self.sizes(), self);
  if (self.numel() == 0) {
    return grad_input;
  }
  check_margin_dtypes("multi_margin_loss_backward_cpu_kernel", self, target);
  check_dtype_of(grad_output, self);
  check_margin_grad(grad_output, target, shape.N, reduction, target.dim() > 0);
  if (weight.defined()) {
    check_dtype_of(weight, self);
  }
  multi_margin_loss_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), self.contiguous(),
                                  target.contiguous(), weight.defined() ? weight.contiguous() : weight, p.toLong(),
                                  margin.toDouble(), reduction);
  return grad_input;
}

// --- several right classes -------------------------------------------------------------------------------------------

MarginShape check_multilabel_margin(const Tensor& input, const Tensor& target) {
  const MarginShape shape = margin_shape(input);
  const bool fits = input.dim() <= 1 ? target.dim() <= 1 && target.numel() == shape.C : target.sizes() == input.sizes();
  TORCH_CHECK(fits, "inconsistent target size: ", target.sizes(), " for input of size: ", input.sizes());
  return shape;
}

// loss = sum_{j in Y} sum_{i not in Y} max(0, 1 - x_j + x_i) / C, where Y are the classes in target before the first
// -1. The second result, is_target, is 1 for the classes in Y and 0 elsewhere; backward reads it.
std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  const MarginShape shape = check_multilabel_margin(self, target);
  const bool per_example = reduction == Reduction::None && target.dim() > 1;
  const Tensor output = new_of(per_example ? IntArrayRef(shape.N) : IntArrayRef(), self);
  const Tensor is_target = new_of(target.sizes(), self);
  zero_impl(is_target);
  if (self.numel() > 0) {
    if (has_margin_kernel(self)) { // otherwise the kernel reports the dtype of self
      check_label_dtype(target);
    }
    multilabel_margin_loss_stub(self.device().type(), output, is_target, self.contiguous(), target.contiguous(),
                                reduction);
  }
  return {output, is_target};
}

Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       int64_t reduction, const Tensor& is_target) {
  const MarginShape shape = check_multilabel_margin(self, target);
  TORCH_CHECK(is_target.sizes() == target.sizes(),
              "Expected tensor for argument #3 'target' to have same size as tensor for argument #5 'is_target'; but ",
              target.sizes(), " does not equal ", is_target.sizes(),
              " (while checking arguments for multilabel_margin_loss_backward_cpu_template)");
  const Tensor grad_input = new_of(self.sizes(), self);
  if (self.numel() == 0) {
    return grad_input;
  }
  if (has_margin_kernel(self)) { // otherwise the kernel reports labels out of range, and then the dtype of self
    check_label_dtype(target);
    check_dtype_of(grad_output, self);
    check_dtype_of(is_target, self);
  }
  check_margin_grad(grad_output, target, shape.N, reduction, target.dim() > 1);
  zero_impl(grad_input);
  multilabel_margin_loss_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), self.contiguous(),
                                       target.contiguous(), is_target.contiguous(), reduction);
  return grad_input;
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return std::get<0>(at::multilabel_margin_loss_forward(self, target, reduction));
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(multi_margin_loss), kernels(multi_margin_loss_stub), variants::NN);
  m.def_out_by_copy(
      "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(multi_margin_loss), kernels(multi_margin_loss_stub));
  m.def(
      "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? "
      "weight=None, int reduction=Mean) -> Tensor",
      TORCH_FN(multi_margin_loss_backward), kernels(multi_margin_loss_backward_stub), variants::NN,
      out_form("grad_input"));
  m.def_composite_with_out("multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
                           TORCH_FN(multilabel_margin_loss), variants::NN);
  m.def(
      "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
      TORCH_FN(multilabel_margin_loss_forward), kernels(multilabel_margin_loss_stub, zero_stub), variants::NN,
      out_form("output"));
  m.def(
      "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor "
      "is_target) -> Tensor",
      TORCH_FN(multilabel_margin_loss_backward), kernels(multilabel_margin_loss_backward_stub, zero_stub), variants::NN,
      out_form("grad_input"));
}

} // namespace reftorch::at::native
