// Mirrors: torch/csrc/autograd/functions/utils.h, torch/csrc/autograd/VariableTypeUtils.h
//
// Helpers of recording an op in the graph.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// Makes `output` the next output of `grad_fn`. The caller leaves out tensors whose dtype has no gradient.
inline void set_history(const Variable& output, const std::shared_ptr<Node>& grad_fn) {
  impl::set_gradient_edge(output, Edge(grad_fn, grad_fn->add_input_metadata(output)));
}

// Checks that `self` may be changed in place now, while gradients are recorded. Throws a RuntimeError otherwise.
TORCH_API void check_inplace(const Variable& self);
// The part of check_inplace that concerns views. `indirect` means that not the view itself was changed, but its base or
// another view of its base.
TORCH_API void check_view_inplace(const Variable& self, bool indirect = false);
// The op's name in error messages, for example "Mul" for MulBackward0.
std::string forward_name(const Node& node);

} // namespace reftorch::torch::autograd
