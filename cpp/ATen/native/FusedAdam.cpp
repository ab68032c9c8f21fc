// Mirrors: aten/src/ATen/native/FusedAdam.cpp
//
// One step of Adam, and one of AdamW, for a list of parameters. Left out: the forms that are not in place.
#include <ATen/core/library.h>
#include <ATen/native/FusedUpdate.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(fused_adam_stub)

static void fused_adam_update(const char* name, std::initializer_list<TensorList> all, TensorList steps,
                              const FusedAdamOptions& options) {
  FusedLists lists(name, all, options.amsgrad);
  const TensorList self = *all.begin();
  check_steps(name, steps, self);
  check_number(name, "lr", options.lr, self);
  check_number(name, "grad_scale", options.grad_scale, self);
  check_number(name, "found_inf", options.found_inf, self);
  fused_adam_stub(lists.device_type(), lists.dense(), steps, options);
  lists.write_back();
}

// LearningRate is double, or const Tensor&.
template <bool decoupled_weight_decay, typename LearningRate>
static std::tuple<> fused_adam(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                               TensorList max_exp_avg_sqs, TensorList state_steps, LearningRate lr, double beta1,
                               double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                               const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  fused_adam_update(decoupled_weight_decay ? "_fused_adamw_" : "_fused_adam_",
                    {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs}, state_steps,
                    {fused_options(lr, weight_decay, maximize, grad_scale, found_inf), beta1, beta2, eps, amsgrad,
                     decoupled_weight_decay});
  return {};
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "_fused_adam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
      "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN((fused_adam<false, double>)), kernels(fused_adam_stub), variants::FUNCTION);
  m.def(
      "_fused_adam_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
      "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float "
      "weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN((fused_adam<false, const Tensor&>)), kernels(fused_adam_stub), variants::FUNCTION);
  m.def(
      "_fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
      "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN((fused_adam<true, double>)), kernels(fused_adam_stub), variants::FUNCTION);
  m.def(
      "_fused_adamw_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
      "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float "
      "weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
      TORCH_FN((fused_adam<true, const Tensor&>)), kernels(fused_adam_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
