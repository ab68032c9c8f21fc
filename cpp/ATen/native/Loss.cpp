// Mirrors: aten/src/ATen/native/Loss.cpp
//
// Losses that compare numbers pair by pair: the squared error, two losses that are quadratic for small errors and
// linear for large ones, and the cross entropy of probabilities, or of scores. Then come losses that are composed of
// other ops. Left out: out= of binary_cross_entropy, which PyTorch does not resize.
#include <ATen/native/Loss.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/TensorFactories.h>

#include <cmath>

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
  return reduction == Reduction::Mean ? at::mean(loss) : reduction == Reduction::Sum ? at::sum(loss) : loss;
}

// Returns None and Mean unchanged, and Sum for every other number: PyTorch's mse_loss and smooth_l1_loss sum then.
static int64_t none_or_known(int64_t reduction) {
  return reduction == Reduction::None || reduction == Reduction::Mean ? reduction : int64_t(Reduction::Sum);
}

// Returns the tensor that the kernel writes the losses of the elements to: `out` itself without a reduction, otherwise
// an undefined tensor, for which the iterator allocates memory. `out` is undefined in the functional form.
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
  reduce_to_out(loss, none_or_known(reduction), out);
}

// With d = |self - target|: loss = d^2 / (2 beta) where d < beta, else d - beta / 2.
static void smooth_l1_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, double beta, Tensor& out) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  Tensor loss = elements_of(out, reduction);
  auto iter = TensorIterator::binary_op(loss, self, target);
  smooth_l1_stub(iter.device_type(), iter, beta);
  iter.cast_outputs();
  reduce_to_out(loss, none_or_known(reduction), out);
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

// The binary cross entropy of sigmoid(score), where score is the argument `self`:
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

// Raises for mixed dtypes, as in PyTorch; the backward of the squared error and of smooth_l1 do not.
static Tensor& huber_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       int64_t reduction, double delta, Tensor& grad_input) {
  auto iter = backward_config(grad_input, grad_output, self, target).check_all_same_dtype(true).build();
  huber_backward_stub(iter.device_type(), iter, norm_of(iter, reduction), delta);
  return grad_input;
}
static Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  int64_t reduction, double delta) {
  Tensor grad_input = empty_gradient(self);
  return huber_loss_backward_out(grad_output, self, target, reduction, delta, grad_input);
}

// --- soft margin -----------------------------------------------------------------------------------------------------

// loss = log(1 + exp(-target self)), where target is 1 or -1
static Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor loss = at::neg(self);
  at::mul_(loss, target); // in place, so that a larger target is an error, as in PyTorch
  at::exp_(loss);
  at::log1p_(loss);
  return apply_loss_reduction(loss, reduction);
}

// With z = exp(-target self): -target z / (1 + z) grad_output
static Tensor soft_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                        int64_t reduction) {
  const double norm = reduction == Reduction::Mean ? 1. / static_cast<double>(self.numel()) : 1.;
  Tensor z = at::exp(at::mul(at::neg(target), self));
  Tensor grad_input = detail::empty_generic({0}, self.scalar_type(), self.device());
  at::mul_out(grad_input, target, z);
  at::mul_(grad_input, number(-norm));
  at::add_(z, number(1));
  at::div_(grad_input, z);
  at::mul_(grad_input, grad_output);
  return grad_input;
}

// --- losses that are composed of other ops ---------------------------------------------------------------------------

static Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return apply_loss_reduction(at::abs(at::sub(self, target)), reduction);
}

// loss = target (log(target) - input), where input is a logarithm; with log_target, target is one, too
static Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  TORCH_CHECK(self.is_floating_point() && target.is_floating_point(), "kl_div: Integral inputs not supported.");
  const Tensor loss = log_target ? at::mul(at::exp(target), at::sub(target, self))
                                 : at::sub(at::xlogy(target, target), at::mul(target, self));
  return apply_loss_reduction(loss, reduction);
}

// loss = input - target log(input), or exp(input) - target input if input is a logarithm. With `full`, Stirling's
// approximation of log(target!) is added where target > 1.
static Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                               int64_t reduction) {
  Tensor loss = log_input ? at::sub(at::exp(input), at::mul(target, input))
                          : at::sub(input, at::mul(target, at::log(at::add(input, eps))));
  if (full) {
    const Tensor half_log = at::mul(at::log(at::mul(target, 2 * M_PI)), 0.5);
    const Tensor stirling = at::add(at::sub(at::mul(target, at::log(target)), target), half_log);
    at::add_(loss, at::masked_fill(stirling, at::le(target, number(1)), 0));
  }
  return apply_loss_reduction(loss, reduction);
}

// The distance x where target is 1, max(0, margin - x) where target is -1, and their sum elsewhere
static Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor zeros = at::zeros_like(self);
  const Tensor limit = at::to(number(margin), self.scalar_type()); // an integer for integers, as in PyTorch
  const Tensor short_of = at::clamp_min(at::sub(limit, self), 0);
  const Tensor of_others = at::where(at::ne(target, number(1)), short_of, zeros);
  const Tensor of_alike = at::where(at::ne(target, number(-1)), self, zeros);
  return apply_loss_reduction(at::add(of_others, of_alike), reduction);
}

// input1, input2: (N, D), target: (N); or (D), (D), (). loss = 1 - cos where target is 1, max(0, cos - margin) where
// target is -1, with the cosine of the angle between the two vectors.
static Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                    int64_t reduction) {
  const int64_t dim = target.dim();
  TORCH_CHECK(dim <= 1, "0D or 1D target tensor expected, multi-target not supported");
  TORCH_CHECK(input1.dim() == dim + 1 && input2.dim() == dim + 1, dim, "D target tensor expects ", dim + 1,
              "D input tensors, but found inputs with sizes ", input1.sizes(), " and ", input2.sizes(), ".");
  constexpr double kEpsilon = 1e-12; // keeps the denominator from 0
  const auto dot = [dim](const Tensor& a, const Tensor& b) { return at::sum(at::mul(a, b), IntArrayRef(dim)); };
  const Tensor product = dot(input1, input2);
  const Tensor square1 = at::add(dot(input1, input1), kEpsilon), square2 = at::add(dot(input2, input2), kEpsilon);
  const Tensor cosine = at::div(product, at::sqrt(at::mul(square1, square2)));
  const Tensor zeros = at::zeros_like(cosine);
  const Tensor alike = at::where(at::eq(target, number(1)), at::sub(number(1), cosine), zeros);
  const Tensor others = at::where(at::eq(target, number(-1)), at::clamp_min(at::sub(cosine, margin), 0), zeros);
  return apply_loss_reduction(at::add(alike, others), reduction);
}

// loss = max(0, margin - target (input1 - input2))
static Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                  int64_t reduction) {
  const Tensor short_of = at::add(at::mul(at::neg(target), at::sub(input1, input2)), margin);
  return apply_loss_reduction(at::clamp_min(short_of, 0), reduction);
}

// anchor, positive, negative: (N, D) or (D). loss = max(0, margin + d(anchor, positive) - d(anchor, negative)); with
// `swap`, the last distance is d(positive, negative) where that is smaller.
static Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                                  double p, double eps, bool swap, int64_t reduction) {
  TORCH_CHECK(anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
              "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
              "anchor ",
              anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  const Tensor near = at::pairwise_distance(anchor, positive, p, eps);
  Tensor far = at::pairwise_distance(anchor, negative, p, eps);
  if (swap) {
    far = at::minimum(far, at::pairwise_distance(positive, negative, p, eps));
  }
  return apply_loss_reduction(at::clamp_min(at::sub(at::add(near, margin), far), 0), reduction);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", TORCH_FN(mse_loss_out),
                   kernels(mse_stub), derive::OUT, variants::NN);
  m.def("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
        TORCH_FN(mse_loss_backward), kernels(mse_backward_stub), variants::NN, out_form("grad_input"));
  m.def_structured("smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor",
                   TORCH_FN(smooth_l1_loss_out), kernels(smooth_l1_stub), derive::OUT, variants::NN);
  m.def("smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
        TORCH_FN(smooth_l1_loss_backward), kernels(smooth_l1_backward_stub), variants::NN, out_form("grad_input"));
  m.def_structured("huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor",
                   TORCH_FN(huber_loss_out), kernels(huber_stub), derive::OUT, variants::NN);
  m.def("huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
        TORCH_FN(huber_loss_backward), kernels(huber_backward_stub), variants::NN);
  m.def(
      "huber_loss_backward.out(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta, *, "
      "Tensor(a!) grad_input) -> Tensor(a!)",
      TORCH_FN(huber_loss_backward_out), kernels(huber_backward_stub), variants::NONE);
  m.def_structured(
      "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_out), kernels(binary_cross_entropy_stub), derive::NONE, variants::NN);
  m.def(
      "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_backward), kernels(binary_cross_entropy_backward_stub), variants::NN,
      out_form("grad_input"));
  m.def(
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
      "reduction=Mean) -> Tensor",
      TORCH_FN(binary_cross_entropy_with_logits), variants::FUNCTION, out_form());

  m.def("soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", TORCH_FN(soft_margin_loss),
        variants::NN);
  m.def_out_by_copy("soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
                    TORCH_FN(soft_margin_loss));
  m.def("soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
        TORCH_FN(soft_margin_loss_backward), variants::NN, out_form("grad_input"));

  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite("l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", TORCH_FN(l1_loss), variants::NN);
  m.def_composite("kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor",
                  TORCH_FN(kl_div), FUNCTION);
  m.def_composite(
      "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
      TORCH_FN(poisson_nll_loss), FUNCTION);
  m.def_composite("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor",
                  TORCH_FN(hinge_embedding_loss), FUNCTION);
  m.def_composite(
      "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> "
      "Tensor",
      TORCH_FN(cosine_embedding_loss), FUNCTION);
  m.def_composite(
      "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> "
      "Tensor",
      TORCH_FN(margin_ranking_loss), FUNCTION);
  m.def_composite(
      "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
      "eps=1e-06, bool swap=False, int reduction=Mean) -> Tensor",
      TORCH_FN(triplet_margin_loss), FUNCTION);
}

} // namespace reftorch::at::native
