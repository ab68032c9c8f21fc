// Mirrors: torch/csrc/autograd/saved_variable.cpp
#include <csrc/autograd/saved_variable.h>

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
  was_saved_ = true;
  saved_version_ = impl::version(variable);
  if (!is_output || impl::get_autograd_meta(variable) == nullptr) {
    saved_original_ = true;
    data_ = variable;
    return;
  }
  // See Note [Saved outputs].
  output_nr_ = impl::output_nr(variable);
  if (is_inplace_on_view) {
    weak_grad_fn_ = impl::grad_fn(variable);
  }
  data_ = impl::tensor_data(variable);
}

Variable SavedVariable::unpack(const std::shared_ptr<Node>& saved_for) const {
  if (!was_saved_) {
    return Variable();
  }
  TORCH_CHECK(data_.defined(), ERR_BACKWARD_TWICE);
  if (saved_original_) {
    if (impl::version(data_) != saved_version_) {
      report_version(impl::grad_fn(data_));
    }
    return data_;
  }
  std::shared_ptr<Node> grad_fn = weak_grad_fn_.lock();
  if (grad_fn == nullptr) {
    grad_fn = saved_for; // also for an in-place op on a view that is gone
  }
  TORCH_INTERNAL_ASSERT(grad_fn != nullptr, "No grad_fn for non-leaf saved tensor");
  if (impl::version(data_) != saved_version_) {
    report_version(grad_fn);
  }
  Variable variable = impl::tensor_data(data_);
  impl::set_gradient_edge(variable, Edge(std::move(grad_fn), output_nr_));
  return variable;
}

void SavedVariable::report_version(const std::shared_ptr<Node>& grad_fn) const {
  std::string which;
  if (grad_fn != nullptr) {
    which = c10::str(", which is output ", saved_original_ ? impl::output_nr(data_) : output_nr_, " of ",
                     grad_fn->name(), ",");
  }
  TORCH_CHECK(false,
              "one of the variables needed for gradient computation has been modified by an inplace operation: [",
              type_string(data_), " ", data_.sizes(), "]", which, " is at version ", impl::version(data_),
              "; expected version ", saved_version_,
              " instead. Hint: an operation kept this tensor for its gradient, and a later one changed it in place. "
              "Use the out-of-place form "
              "of the later operation, or change a clone().");
}

} // namespace reftorch::torch::autograd
