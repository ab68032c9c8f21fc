// Mirrors: aten/src/ATen/native/FusedSGD.cpp
//
// One step of stochastic gradient descent for a list of parameters. Left out: the forms that are not in place.
#include <ATen/core/library.h>
#include <ATen/native/FusedUpdate.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(fused_sgd_stub)

static void fused_sgd_update(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                             const FusedSGDOptions& options) {
  FusedLists lists("_fused_sgd_", {self, grads, momentum_buffer_list}, options.momentum != 0);
  check_number("_fused_sgd_", "lr", options.lr, self);
  check_number("_fused_sgd_", "grad_scale", options.grad_scale, self);
  check_number("_fused_sgd_", "found_inf", options.found_inf, self);
  fused_sgd_stub(lists.device_type(), lists.dense(), options);
  lists.write_back();
}

// LearningRate is double, or const Tensor&.
template <typename LearningRate>
static std::tuple<> _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                                double momentum, LearningRate lr, double dampening, bool nesterov, bool maximize,
                                bool is_first_step, const std::optional<Tensor>& grad_scale,
                                const std::optional<Tensor>& found_inf) {
  fused_sgd_update(
      self, grads, momentum_buffer_list,
      {fused_options(lr, weight_decay, maximize, grad_scale, found_inf), momentum, dampening, nesterov, is_first_step});
  return {};
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, "
      "float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? "
      "grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN(_fused_sgd_<double>), kernels(fused_sgd_stub), variants::FUNCTION);
  m.def(
      "_fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float "
      "weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, "
      "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN(_fused_sgd_<const Tensor&>), kernels(fused_sgd_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
