// Mirrors: aten/src/ATen/native/Loss.cpp
//
// Losses that compare numbers pair by pair: the squared error, two losses that are quadratic for small errors and
// linear for large ones, and the cross entropy of probabilities, or of scores. Left out: every other loss; Python
// composes most of them of other ops. Left out, too: out= of binary_cross_entropy, which PyTorch does not resize.
#include <ATen/native/Loss.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(mse_stub)
DEFINE_DISPATCH(mse_backward_stub)
DEFINE_DISPATCH(smooth_l1_stub)
DEFINE_DISPATCH(smooth_l1_backward_stub)
DEFINE_DISPATCH(huber_stub)
DEFINE_DISPATCH(huber_backward_stub)
DEFINE_DISPATCH(binary_cross_entropy_stub)
DEFINE_DISPATCH(binary_cross_entropy_backward_stub)

static Tensor apply_loss_reduction(const Tensor& loss, int64_t reduction) {
  if (reduction == Reduction::None) {
    return loss;
  }
  return reduction == Reduction::Mean ? at::mean(loss) : at::sum(loss);
}

// A loss for each element is written to `out` itself; a reduced loss is computed from a tensor of its own. `out` is
// undefined in the functional form.
static Tensor elements_of(const Tensor& out, int64_t reduction) {
  return reduction == Reduction::None ? out : Tensor();
}

static void reduce_to_out(const Tensor& loss, int64_t reduction, Tensor& out) {
  const Tensor result = apply_loss_reduction(loss, reduction);
  if (reduction != Reduction::None && out.defined()) {
    impl::copy_to_out(result, out, impl::OutDtype::Castable);
  } else {
    out = result;
  }
}

// loss = (self - target)^2; `reduction` says whether it is averaged, summed or returned for each element.
static void mse_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  Tensor loss = elements_of(out, reduction);
  auto iter = TensorIterator::binary_op(loss, self, target);
  mse_stub(iter.device_type(), iter);
  iter.cast_outputs();
  reduce_to_out(loss, reduction, out);
}

// With d = |self - target|: loss = d^2 / (2 beta) where d < beta, else d - beta / 2.
static void smooth_l1_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, double beta, Tensor& out) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  Tensor loss = elements_of(out, reduction);
  auto iter = TensorIterator::binary_op(loss, self, target);
  smooth_l1_stub(iter.device_type(), iter, beta);
  iter.cast_outputs();
  reduce_to_out(loss, reduction, out);
}

// loss = d^2 / 2 where d <= delta, else delta (d - delta / 2); the result has the dtype of self, as in PyTorch.
static void huber_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, double delta, Tensor& out) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  Tensor loss = elements_of(out, reduction);
  if (!loss.defined()) {
    loss = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  }
  auto iter = TensorIterator::binary_op(loss, self, target);
  huber_stub(iter.device_type(), iter, delta);
  iter.cast_outputs();
  reduce_to_out(loss, reduction, out);
}

// --- cross entropy of two classes ------------------------------------------------------------------------------------

static bool has_tensor(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

static void check_pair(const Tensor& self, const Tensor& target) {
  TORCH_CHECK(self.scalar_type() == target.scalar_type(), "Found dtype ", target.scalar_type(), " but expected ",
              self.scalar_type());
}

// loss = -weight (target log(self) + (1 - target) log(1 - self)), where no logarithm is below -100
static void binary_cross_entropy_out(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                     int64_t reduction, Tensor& out) {
  Tensor loss = elements_of(out, reduction);
  if (!loss.defined()) {
    loss = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  }
  check_pair(self, target);
  auto iter = TensorIterator::binary_op(loss, self, target);
  binary_cross_entropy_stub(iter.device_type(), iter);
  iter.cast_outputs();
  if (has_tensor(weight)) {
    at::mul_(loss, *weight);
  }
  reduce_to_out(loss, reduction, out);
}

static Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                            const std::optional<Tensor>& weight, int64_t reduction) {
  Tensor grad_input = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  auto iter = TensorIteratorConfig()
                  .add_output(grad_input)
                  .add_input(grad_output)
                  .add_input(self)
                  .add_input(target)
                  .check_all_same_dtype(true)
                  .build();
  binary_cross_entropy_backward_stub(iter.device_type(), iter);
  if (has_tensor(weight)) {
    at::mul_(grad_input, *weight);
  }
  if (reduction == Reduction::Mean) {
    at::div_(grad_input, number(static_cast<double>(self.numel())));
  }
  return grad_input;
}

// The same for scores, of which self = sigmoid(score):
// loss = weight ((1 - target) score - (1 + (pos_weight - 1) target) log_sigmoid(score)), which does not overflow
static Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& pos_weight, int64_t reduction) {
  Tensor logarithm = at::log_sigmoid(self);
  if (has_tensor(pos_weight)) {
    const Tensor more = at::mul(at::sub(*pos_weight, number(1)), target);
    at::mul_(logarithm, at::add(more, number(1)));
  }
  Tensor loss = at::sub(detail::wrapped_scalar_tensor(1), target);
  at::mul_(loss, self);
  at::sub_(loss, logarithm);
  if (has_tensor(weight)) {
    at::mul_(loss, *weight);
  }
  return apply_loss_reduction(loss, reduction);
}

// --- backward: the derivative of the loss times grad_output, divided by the number of elements for the mean ----------

static TensorIteratorConfig backward_config(Tensor& grad_input, const Tensor& grad_output, const Tensor& self,
                                            const Tensor& target) {
  return TensorIteratorConfig()
      .add_output(grad_input)
      .add_input(self)
      .add_input(target)
      .add_input(grad_output)
      .promote_inputs_to_common_dtype(true);
}

static Tensor empty_gradient(const Tensor& self) {
  return detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
}

static double norm_of(const TensorIterator& iter, int64_t reduction) {
  return reduction == Reduction::Mean ? 1. / static_cast<double>(iter.numel()) : 1.;
}

// 2 (self - target) grad_output
static Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                int64_t reduction) {
  Tensor grad_input = empty_gradient(self);
  auto iter = backward_config(grad_input, grad_output, self, target).build();
  mse_backward_stub(iter.device_type(), iter, 2. * norm_of(iter, reduction));
  iter.cast_outputs();
  return grad_input;
}

static Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                      int64_t reduction, double beta) {
  Tensor grad_input = empty_gradient(self);
  auto iter = backward_config(grad_input, grad_output, self, target).build();
  smooth_l1_backward_stub(iter.device_type(), iter, norm_of(iter, reduction), beta);
  iter.cast_outputs();
  return grad_input;
}

// Of the three, only this one raises for mixed dtypes, as in PyTorch.
static Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  int64_t reduction, double delta) {
  Tensor grad_input = empty_gradient(self);
  auto iter = backward_config(grad_input, grad_output, self, target).check_all_same_dtype(true).build();
  huber_backward_stub(iter.device_type(), iter, norm_of(iter, reduction), delta);
  return grad_input;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", TORCH_FN(mse_loss_out),
                   kernels(mse_stub), derive::OUT, variants::NN);
  m.def("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
        TORCH_FN(mse_loss_backward), kernels(mse_backward_stub), variants::NN);
  m.def_structured("smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor",
                   TORCH_FN(smooth_l1_loss_out), kernels(smooth_l1_stub), derive::OUT, variants::NN);
  m.def("smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
        TORCH_FN(smooth_l1_loss_backward), kernels(smooth_l1_backward_stub), variants::NN);
  m.def_structured("huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor",
                   TORCH_FN(huber_loss_out), kernels(huber_stub), derive::OUT, variants::NN);
  m.def("huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
        TORCH_FN(huber_loss_backward), kernels(huber_backward_stub), variants::NN);
  m.def_structured(
      "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_out), kernels(binary_cross_entropy_stub), derive::NONE, variants::NN);
  m.def(
      "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_backward), kernels(binary_cross_entropy_backward_stub), variants::NN);
  m.def(
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_with_logits), variants::NN);
  m.def_out_by_copy(
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_with_logits));
}

} // namespace reftorch::at::native
