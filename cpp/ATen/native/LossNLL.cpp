// Mirrors: aten/src/ATen/native/LossNLL.cpp
//
// Negative log likelihood: minus the log-probability of the class of each sample. Images are in LossNLL2d.cpp. Cross
// entropy is log_softmax and nll_loss in one op, composed of other ops.
#include <ATen/native/LossNLL.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Loss.h>

#include <cmath>

namespace reftorch::at::native {

DEFINE_DISPATCH(nll_loss_stub)
DEFINE_DISPATCH(nll_loss_backward_stub)

using OptionalTensor = std::optional<Tensor>;

static bool is_class_dtype(ScalarType dtype) {
  return dtype == kLong || dtype == kByte;
}

// self (N, C) or (C); target (N) or (); weight (C)
static void nll_loss_check(const Tensor& self, const Tensor& target, const Tensor& weight) {
  TORCH_CHECK(self.dim() > 0 && self.dim() <= 2, "input tensor should be 1D or 2D");
  TORCH_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  TORCH_CHECK(is_class_dtype(target.scalar_type()), "expected target dtype to be Long or Byte, but got ",
              target.scalar_type());
  TORCH_CHECK(self.dim() == 1 || self.sizes()[0] == target.size(0), "size mismatch (got input: ", self.sizes(),
              ", target: ", target.sizes(), ")");
  const int64_t n_classes = self.sizes().back();
  if (weight.defined()) {
    TORCH_CHECK(weight.dim() == 1 && weight.numel() == n_classes, "weight tensor should be defined either for all ",
                n_classes, " classes or no classes but got weight tensor of shape: ", weight.sizes());
  }
}

static Tensor defined_or_empty(const OptionalTensor& t) {
  return t.has_value() && t->defined() ? t->contiguous() : Tensor();
}

static Tensor as_int64(const Tensor& target) {
  return (target.scalar_type() == kLong ? target : cast_to_dtype(target, kLong)).contiguous();
}

static std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target,
                                                   const OptionalTensor& opt_weight, int64_t reduction,
                                                   int64_t ignore_index) {
  const Tensor weight = defined_or_empty(opt_weight);
  TORCH_CHECK_VALUE(
      self.dim() != 1 || target.dim() != 1 || target.numel() == 1 || !is_class_dtype(target.scalar_type()),
      "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
  nll_loss_check(self, target, weight);
  const bool per_sample = reduction == Reduction::None && self.dim() == 2;
  const Tensor output =
      detail::empty_generic(per_sample ? target.sizes() : IntArrayRef(), self.scalar_type(), self.device());
  const Tensor total_weight = detail::empty_generic({}, self.scalar_type(), self.device());
  nll_loss_stub(self.device().type(), output, total_weight, self.contiguous(), as_int64(target), weight, reduction,
                ignore_index);
  return {output, total_weight};
}

static Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                const OptionalTensor& opt_weight, int64_t reduction, int64_t ignore_index,
                                const Tensor& total_weight) {
  const Tensor weight = defined_or_empty(opt_weight);
  nll_loss_check(self, target, weight);
  TORCH_CHECK(self.dim() == 2 || target.dim() == 0 || self.sizes() == target.sizes(),
              "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  TORCH_CHECK(total_weight.numel() == 1,
              "expected total_weight to be a single element tensor, got: ", total_weight.sizes(), " (",
              total_weight.numel(), " elements)");
  if (reduction == Reduction::None && self.dim() == 2) {
    TORCH_CHECK(grad_output.dim() == 1 && grad_output.numel() == self.sizes()[0],
                "Expected a tensor of dimension 1 and tensor.size[0] == ", self.sizes()[0], " but got: dimension ",
                grad_output.dim(), " and tensor.size[0] = ", grad_output.size(0));
  } else {
    TORCH_CHECK(grad_output.dim() <= 1 && grad_output.numel() == 1,
                "Expected a single element grad_output tensor, but got: ", grad_output.sizes());
  }
  Tensor grad_input = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  at::zero_(grad_input);
  nll_loss_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), as_int64(target), weight,
                         total_weight, reduction, ignore_index);
  return grad_input;
}

static Tensor nll_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                       int64_t ignore_index) {
  return std::get<0>(at::nll_loss_forward(self, target, weight, reduction, ignore_index));
}

// ---- cross entropy

static bool is_given(const OptionalTensor& t) {
  return t.has_value() && t->defined();
}

// loss = -sum_c weight_c target_c log_softmax(self)_c; the mean is the mean over samples.
static Tensor cross_entropy_loss_prob_target(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                             int64_t reduction, double label_smoothing) {
  TORCH_CHECK(target.is_floating_point(), "Expected floating point type for target with class probabilities, got ",
              target.scalar_type());
  const int64_t class_dim = self.dim() == 1 ? 0 : 1, n_classes = self.size(class_dim);
  Tensor probabilities = target;
  if (label_smoothing > 0) {
    probabilities = at::add(at::mul(target, 1 - label_smoothing), label_smoothing / static_cast<double>(n_classes));
  }
  Tensor loss = at::mul(at::log_softmax(self, class_dim), probabilities);
  if (is_given(weight)) {
    TORCH_CHECK(weight->dim() == 1 && weight->numel() == n_classes,
                "cross_entropy: weight tensor should be defined either for all ", n_classes,
                " classes or no classes but got weight tensor of shape: ", weight->sizes());
    DimVector shape(size_t(self.dim()), 1);
    shape[class_dim] = n_classes;
    loss = at::mul(loss, at::view(*weight, shape));
  }
  if (reduction == Reduction::None) {
    return at::neg(at::sum(loss, class_dim));
  }
  TORCH_CHECK(reduction == Reduction::Mean || reduction == Reduction::Sum,
              "Invalid reduction type encountered in cross_entropy: ", reduction);
  Tensor sum = at::sum(loss);
  if (reduction == Reduction::Sum) {
    return at::neg(sum);
  }
  if (self.numel() == 0) { // NaN, which does not depend on the inputs: no gradient flows
    return at::neg(at::fill_(sum, NAN));
  }
  return at::div(at::neg(sum), self.numel() / n_classes);
}

// The share `label_smoothing` of each target is spread evenly over all classes.
static Tensor cross_entropy_loss_label_smoothing(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                                 int64_t reduction, int64_t ignore_index, double label_smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1, n_classes = self.size(class_dim);
  const Tensor input = at::log_softmax(self, class_dim);
  const Tensor nll = at::nll_loss_nd(input, target, weight, reduction, ignore_index);
  Tensor weighted = input;
  if (is_given(weight)) {
    DimVector shape(size_t(self.dim()), 1);
    shape[class_dim] = weight->numel();
    weighted = at::mul(input, at::view(*weight, shape));
  }
  Tensor smooth = at::neg(at::sum(weighted, class_dim));
  const Tensor ignored = at::eq(target, detail::wrapped_scalar_tensor(ignore_index));
  smooth = at::masked_fill(smooth, ignored, 0);
  if (reduction != Reduction::None) {
    smooth = at::sum(smooth);
  }
  if (reduction == Reduction::Mean) {
    // As in PyTorch, the mean divides by the weights of the targets that are not ignored.
    const Tensor kept = at::logical_not(ignored);
    const Tensor zeroed = at::where(ignored, detail::wrapped_scalar_tensor(0), target);
    const Tensor total =
        is_given(weight)
            ? at::sum(
                  at::mul(at::reshape(at::index_select(*weight, 0, at::reshape(zeroed, {-1})), target.sizes()), kept))
            : at::sum(kept);
    smooth = at::div(smooth, total);
  }
  return at::add(at::mul(nll, 1 - label_smoothing), at::mul(smooth, label_smoothing / static_cast<double>(n_classes)));
}

// self: scores (C), (N, C) or (N, C, d1, ...). target: classes (), (N) or (N, d1, ...), or probabilities with the shape
// of self.
static Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                 int64_t reduction, int64_t ignore_index, double label_smoothing) {
  TORCH_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
              "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (self.sizes() == target.sizes()) {
    TORCH_CHECK(!target.is_floating_point() || ignore_index < 0,
                "ignore_index is not supported for floating point target");
    return cross_entropy_loss_prob_target(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) {
    return cross_entropy_loss_label_smoothing(self, target, weight, reduction, ignore_index, label_smoothing);
  }
  return at::nll_loss_nd(at::log_softmax(self, self.dim() == 1 ? 0 : 1), target, weight, reduction, ignore_index);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite_with_out(
      "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> "
      "Tensor",
      TORCH_FN(nll_loss), variants::NN);
  m.def(
      "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
      "(Tensor output, Tensor total_weight)",
      TORCH_FN(nll_loss_forward), kernels(nll_loss_stub), variants::NN, out_form("output"));
  m.def(
      "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int "
      "ignore_index, "
      "Tensor total_weight) -> Tensor",
      TORCH_FN(nll_loss_backward), kernels(nll_loss_backward_stub), variants::NN, out_form("grad_input"));
  m.def_composite(
      "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt "
      "ignore_index=-100, "
      "float label_smoothing=0.0) -> Tensor",
      TORCH_FN(cross_entropy_loss), variants::NN);
}

} // namespace reftorch::at::native
