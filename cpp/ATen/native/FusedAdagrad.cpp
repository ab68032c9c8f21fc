// Mirrors: aten/src/ATen/native/FusedAdagrad.cpp
//
// One step of Adagrad for a list of parameters. Left out: the forms that are not in place.
#include <ATen/core/library.h>
#include <ATen/native/FusedUpdate.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(fused_adagrad_stub)

static void fused_adagrad_update(TensorList self, TensorList grads, TensorList state_sums, TensorList steps,
                                 const FusedAdagradOptions& options) {
  FusedLists lists("_fused_adagrad_", {self, grads, state_sums}, true);
  check_steps("_fused_adagrad_", steps, self);
  check_number("_fused_adagrad_", "lr", options.lr, self);
  check_number("_fused_adagrad_", "grad_scale", options.grad_scale, self);
  check_number("_fused_adagrad_", "found_inf", options.found_inf, self);
  fused_adagrad_stub(lists.device_type(), lists.dense(), steps, options);
  lists.write_back();
}

// LearningRate is double, or const Tensor&.
template <typename LearningRate>
static std::tuple<> _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps,
                                    LearningRate lr, double lr_decay, double weight_decay, double eps, bool maximize,
                                    const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  fused_adagrad_update(self, grads, state_sums, state_steps,
                       {fused_options(lr, weight_decay, maximize, grad_scale, found_inf), lr_decay, eps});
  return {};
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] state_steps, *, "
      "float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? "
      "found_inf=None) -> ()",
      TORCH_FN(_fused_adagrad_<double>), kernels(fused_adagrad_stub), variants::FUNCTION);
  m.def(
      "_fused_adagrad_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] "
      "state_steps, *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? "
      "grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN(_fused_adagrad_<const Tensor&>), kernels(fused_adagrad_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
