// Mirrors: aten/src/ATen/native/LossNLL2d.cpp, aten/src/ATen/native/LossNLL.cpp (nll_loss_nd)
//
// Negative log likelihood of images: each pixel has a class. Targets of any other number of dimensions are seen as
// images of one row.
#include <ATen/native/LossNLL.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Loss.h>

namespace reftorch::at::native {

// self (N, C, H, W), target (N, H, W), weight (C)
static void check_nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight) {
  TORCH_CHECK(target.dim() == 3,
              "only batches of spatial targets supported (3D tensors) but got targets of dimension: ", target.dim());
  TORCH_CHECK(self.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of dimension: ", self.dim());
  TORCH_CHECK(!weight.defined() || weight.numel() == self.size(1),
              "weight tensor should be defined either for all or no classes");
  TORCH_CHECK(self.size(0) == target.size(0) && self.size(2) == target.size(1) && self.size(3) == target.size(2),
              "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes());
  TORCH_CHECK(target.scalar_type() == kLong, "expected scalar type Long but found ", toString(target.scalar_type()));
  const bool weight_fits = !weight.defined() || weight.scalar_type() == self.scalar_type();
  TORCH_CHECK(weight_fits || !self.is_floating_point(), "expected scalar type ", // the kernel refuses integers
              toString(self.scalar_type()), " but found ", toString(weight.scalar_type()));
}

static Tensor contiguous_or_undefined(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? t->contiguous() : Tensor();
}

static std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self, const Tensor& target,
                                                     const std::optional<Tensor>& opt_weight, int64_t reduction,
                                                     int64_t ignore_index) {
  const Tensor weight = contiguous_or_undefined(opt_weight);
  check_nll_loss2d(self, target, weight);
  const Tensor output = detail::empty_generic(reduction == Reduction::None ? target.sizes() : IntArrayRef(),
                                              self.scalar_type(), self.device());
  const Tensor total_weight = detail::empty_generic({}, self.scalar_type(), self.device());
  nll_loss_stub(self.device().type(), output, total_weight, self.contiguous(), target.contiguous(), weight, reduction,
                ignore_index);
  return {output, total_weight};
}

static Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  const std::optional<Tensor>& opt_weight, int64_t reduction, int64_t ignore_index,
                                  const Tensor& total_weight) {
  const Tensor weight = contiguous_or_undefined(opt_weight);
  check_nll_loss2d(self, target, weight);
  TORCH_CHECK(total_weight.numel() == 1,
              "expected total_weight to be a single element tensor, got: ", total_weight.sizes(), " (",
              total_weight.numel(), " elements)");
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"nll_loss2d_backward_out_frame\" not implemented for '",
                              self.scalar_type(), "'");
  TORCH_CHECK(grad_output.scalar_type() == self.scalar_type() && total_weight.scalar_type() == self.scalar_type(),
              "nll_loss2d_backward: expected grad_output and total_weight of dtype ", self.scalar_type(), ", but got ",
              grad_output.scalar_type(), " and ", total_weight.scalar_type());
  if (reduction == Reduction::None) {
    TORCH_CHECK(grad_output.sizes() == target.sizes(), "nll_loss2d_backward: expected grad_output of shape ",
                target.sizes(), ", but got ", grad_output.sizes());
  } else {
    TORCH_CHECK(grad_output.dim() <= 1 && grad_output.numel() == 1,
                "Expected a single element grad_output tensor, but got: ", grad_output.sizes());
  }
  Tensor grad_input = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  at::zero_(grad_input);
  nll_loss_backward_stub(self.device().type(), grad_input, grad_output.contiguous(), target.contiguous(), weight,
                         total_weight, reduction, ignore_index);
  return grad_input;
}

static Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                         int64_t reduction, int64_t ignore_index) {
  return std::get<0>(at::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

// self (C), (N, C) or (N, C, d1, ...); target (), (N) or (N, d1, ...)
static Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                          int64_t reduction, int64_t ignore_index) {
  TORCH_CHECK_VALUE(self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  const int64_t batch = target.dim() > 0 ? target.size(0) : 1;
  TORCH_CHECK_VALUE(self.dim() == 1 || (target.dim() > 0 && self.size(0) == batch), "Expected input batch_size (",
                    self.size(0), ") to match target batch_size (", batch, ").");
  if (self.dim() <= 2) {
    return at::nll_loss(self, target, weight, reduction, ignore_index);
  }
  if (self.dim() == 4) {
    return at::nll_loss2d(self, target, weight, reduction, ignore_index);
  }
  DimVector out_size;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (d != 1) {
      out_size.push_back(self.size(d));
    }
  }
  TORCH_CHECK(target.sizes() == IntArrayRef(out_size), "Expected target size ", IntArrayRef(out_size), ", got ",
              target.sizes());
  const int64_t n = self.size(0), c = self.size(1), rest = self.numel() > 0 ? self.numel() / (n * c) : 0;
  const int64_t row = self.numel() > 0 ? 1 : 0;
  const Tensor loss = at::nll_loss2d(at::reshape(self, {n, c, row, rest}), at::reshape(target, {n, row, rest}), weight,
                                     reduction, ignore_index);
  return reduction == Reduction::None ? at::reshape(loss, out_size) : loss;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite_with_out(
      "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> "
      "Tensor",
      TORCH_FN(nll_loss2d), variants::NN);
  m.def(
      "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
      "(Tensor output, Tensor total_weight)",
      TORCH_FN(nll_loss2d_forward), kernels(nll_loss_stub), variants::NN, out_form("output"));
  m.def(
      "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
      "ignore_index, Tensor total_weight) -> Tensor",
      TORCH_FN(nll_loss2d_backward), kernels(nll_loss_backward_stub), variants::NN, out_form("grad_input"));
  m.def_composite(
      "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> "
      "Tensor",
      TORCH_FN(nll_loss_nd), variants::NN);
}

} // namespace reftorch::at::native
