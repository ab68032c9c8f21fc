// Mirrors: aten/src/ATen/native/Loss.cpp
// Left out: every loss but the mean squared error.
#include <ATen/native/Loss.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(mse_stub)
DEFINE_DISPATCH(mse_backward_stub)

// loss = (self - target)^2, as it is or averaged or summed
static Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor loss;
  auto iter = TensorIterator::binary_op(loss, self, target);
  mse_stub(iter.device_type(), iter);
  if (reduction == Reduction::None) {
    return loss;
  }
  return reduction == Reduction::Mean ? at::mean(loss) : at::sum(loss, {});
}

// grad_input = 2 (self - target) grad_output, divided by the number of elements for the mean
static Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                int64_t reduction) {
  Tensor grad_input = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  auto iter =
      TensorIteratorConfig().add_output(grad_input).add_input(self).add_input(target).add_input(grad_output).build();
  const double factor = reduction == Reduction::Mean ? 2. / static_cast<double>(iter.numel()) : 2.;
  mse_backward_stub(iter.device_type(), iter, factor);
  return grad_input;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", TORCH_FN(mse_loss), variants::NN);
  m.def("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
        TORCH_FN(mse_loss_backward), variants::NN);
}

} // namespace reftorch::at::native
