// Mirrors: torch/csrc/autograd/saved_variable.cpp
#include <csrc/autograd/saved_variable.h>

#include <ATen/TensorUtils.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/forward_grad.h>
#include <csrc/autograd/functions/utils.h>

namespace reftorch::torch::autograd {

const char* const ERR_BACKWARD_TWICE =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved "
    "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after calling backward.";

SavedVariable::SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view) {
  if (!variable.defined()) {
    return;
  }
  TORCH_CHECK(!variable.is_inference(),
              "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
              "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
              "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  was_saved_ = true;
  saved_version_ = impl::version(variable);
  // A result that has no history cannot make a cycle with its node, and is saved as it is: see Note [Saved outputs].
  const AutogradMeta* own = impl::get_autograd_meta(variable);
  is_output = is_output && own != nullptr && own->grad_fn_ != nullptr;
  if (is_output && is_inplace_on_view) {
    weak_grad_fn_ = impl::grad_fn(variable);
  }
  // A number that was wrapped in a tensor on its way to the op is not passed to hooks, because the program does not
  // know the tensor.
  if (__builtin_expect(SavedTensorDefaultHooks::is_enabled(), 0) &&
      !variable.unsafeGetTensorImpl()->is_wrapped_number_) {
    std::shared_ptr<SavedVariableHooks> hooks = SavedTensorDefaultHooks::get_hooks();
    save_metadata(*hooks, variable, is_output);
    set_hooks_and_pack_data(std::move(hooks), variable);
    return;
  }
  if (!is_output) {
    saved_original_ = true;
    had_grad_fn_ = own != nullptr && own->grad_fn_ != nullptr;
    data_ = variable;
    return;
  }
  // See Note [Saved outputs].
  output_nr_ = impl::output_nr(variable);
  data_ = impl::tensor_data(variable);
  copy_fw_grad(variable, data_);
}

void SavedVariable::save_metadata(SavedVariableHooks& hooks, const Variable& variable, bool is_output) {
  output_nr_ = impl::output_nr(variable);
  hooks.is_leaf = impl::is_leaf(variable);
  hooks.tangent = fw_grad(variable);
  if (hooks.is_leaf) {
    hooks.grad_fn = impl::grad_accumulator(variable);
  } else if (!is_output) {
    hooks.grad_fn = impl::grad_fn(variable);
  }
}

// The hooks are stored only after the pack hook has returned. If the hook raises an error, this object is as it was.
void SavedVariable::set_hooks_and_pack_data(std::shared_ptr<SavedVariableHooks> hooks, const Variable& data) {
  const c10::NoGradGuard no_grad;
  const uint32_t version = impl::version(data);
  hooks->call_pack_hook(saved_original_ ? impl::tensor_data(data) : data);
  TORCH_CHECK(
      version == impl::version(data),
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
      "be modified by in-place operations as this can lead to unexpected side-effects. Hint: change a clone().");
  check_no_hooks(); // the pack hook itself may have registered hooks
  hooks_ = std::move(hooks);
}

void SavedVariable::check_no_hooks() const {
  TORCH_CHECK(
      hooks_ == nullptr,
      "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
      "is allowed at a time.");
}

void SavedVariable::register_hooks(std::shared_ptr<SavedVariableHooks> hooks) {
  check_no_hooks();
  TORCH_CHECK(was_saved_, "Calling register_hooks on a saved tensor with value None is forbidden");
  TORCH_CHECK(
      data_.defined(),
      "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
      "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
      "backward through the graph a second time or if you need to access saved variables after calling "
      "backward.");
  if (saved_original_) { // for an output the metadata was saved by the constructor
    save_metadata(*hooks, data_, /*is_output=*/false);
  }
  const Variable data = data_; // the pack hook may free what is saved
  set_hooks_and_pack_data(std::move(hooks), data);
  data_.reset();
}

SavedVariable SavedVariable::release() {
  SavedVariable held;
  held.data_ = std::move(data_);
  held.hooks_ = std::move(hooks_);
  return held;
}

Variable SavedVariable::unpack(const std::shared_ptr<Node>& saved_for) const {
  if (!was_saved_) {
    return Variable();
  }
  TORCH_CHECK(data_.defined() || hooks_ != nullptr, ERR_BACKWARD_TWICE);
  if (saved_original_ && hooks_ == nullptr) {
    const std::shared_ptr<Node> grad_fn = impl::grad_fn(data_);
    TORCH_CHECK(!had_grad_fn_ || grad_fn != nullptr,
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead");
    check_version(grad_fn);
    return data_;
  }
  std::shared_ptr<Node> grad_fn = weak_grad_fn_.lock();
  const bool is_leaf = hooks_ != nullptr && hooks_->is_leaf;
  if (grad_fn == nullptr && hooks_ != nullptr) {
    grad_fn = hooks_->grad_fn;
  }
  if (grad_fn == nullptr && !is_leaf) {
    grad_fn = saved_for; // the tensor is an output; also if it was a view that was changed in place and is gone
  }
  if (hooks_ == nullptr) {
    check_version(grad_fn);
  }
  Variable data = hooks_ != nullptr ? hooks_->call_unpack_hook() : data_;
  const Variable tangent = hooks_ != nullptr ? hooks_->tangent : fw_grad(data_);
  if (grad_fn == nullptr && !tangent.defined()) {
    return data; // a leaf that requires no gradient
  }
  Variable variable = impl::tensor_data(data);
  if (grad_fn != nullptr && is_leaf) {
    AutogradMeta* meta = impl::materialize_autograd_meta(variable);
    meta->set_requires_grad(true, variable);
    meta->grad_accumulator_ = grad_fn;
  } else if (grad_fn != nullptr) {
    impl::set_gradient_edge(variable, Edge(std::move(grad_fn), output_nr_));
  }
  if (tangent.defined()) {
    set_fw_grad(variable, tangent);
  }
  return variable;
}

void SavedVariable::visit_owned(OwnedVisitor& visitor) const {
  if (data_.defined()) {
    visitor.variable(data_);
  }
  if (hooks_ != nullptr && hooks_.use_count() == 1) {
    hooks_->visit_owned(visitor);
  }
}

void SavedVariable::check_version(const std::shared_ptr<Node>& grad_fn) const {
  if (impl::version(data_) == saved_version_) {
    return;
  }
  std::string which;
  if (grad_fn != nullptr) {
    which = c10::str(", which is output ", saved_original_ ? impl::output_nr(data_) : output_nr_, " of ",
                     forward_name(*grad_fn), ",");
  }
  TORCH_CHECK(false,
              "one of the variables needed for gradient computation has been modified by an inplace operation: [",
              at::detail::type_string(data_), " ", data_.sizes(), "]", which, " is at version ", impl::version(data_),
              "; expected version ", saved_version_,
              " instead. Hint: an operation kept this tensor for its gradient, and a later one changed it in place. "
              "Use the out-of-place form of the later operation, or change a clone(). ",
              AnomalyMode::is_enabled()
                  ? "The backtrace further above shows the operation whose gradient needed it."
                  : "To find the operation, enable anomaly detection: torch.autograd.set_detect_anomaly(True).");
}

} // namespace reftorch::torch::autograd
