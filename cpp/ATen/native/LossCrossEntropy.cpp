// Mirrors: aten/src/ATen/native/LossNLL.cpp (cross_entropy_loss)
//
// log_softmax and nll_loss in one op, composed of other ops.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Loss.h>

#include <cmath>

namespace reftorch::at::native {

using OptionalTensor = std::optional<Tensor>;

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
  m.def_composite(
      "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt "
      "ignore_index=-100, "
      "float label_smoothing=0.0) -> Tensor",
      TORCH_FN(cross_entropy_loss), variants::NN);
}

} // namespace reftorch::at::native
