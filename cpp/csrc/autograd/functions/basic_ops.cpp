// Mirrors: torch/csrc/autograd/functions/basic_ops.cpp
#include <csrc/autograd/functions/basic_ops.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/autograd/functions/utils.h>

namespace reftorch::torch::autograd {

variable_list NotImplemented::apply(variable_list&&) {
  TORCH_CHECK(false, "derivative for ", op_name, " is not implemented");
}

void warn_not_implemented(const std::string& op_name) {
  TORCH_WARN(
      op_name,
      ": an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. "
      "This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future "
      "version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd "
      "kernel to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). "
      "If your operator is not differentiable, or to squash this warning and use the previous behavior, please "
      "register torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.");
}

variable_list WarnNotImplemented::apply(variable_list&&) {
  warn_not_implemented(op_name);
  return variable_list(next_edges().size());
}

variable_list Error::apply(variable_list&&) {
  TORCH_CHECK(false, message);
}

variable_list put_behind(const std::shared_ptr<Node>& node, const variable_list& tensors) {
  bool recorded = false;
  variable_list results;
  for (const Variable& tensor : tensors) {
    recorded = recorded || (tensor.defined() && tensor.requires_grad());
    node->add_next_edge(tensor.defined() ? impl::gradient_edge(tensor) : Edge());
    results.push_back(tensor.defined() ? at::detach(tensor) : Variable());
  }
  for (const Variable& result : results) {
    if (!result.defined()) {
      node->add_undefined_input_metadata();
    } else if (recorded && c10::GradMode::is_enabled()) {
      set_history(result, node);
    }
  }
  return results;
}

GraphRoot::GraphRoot(const edge_list& roots, variable_list gradients) : outputs_(std::move(gradients)) {
  for (const Edge& edge : roots) {
    add_next_edge(edge);
  }
}

} // namespace reftorch::torch::autograd
