// Mirrors: torch/csrc/autograd/functions/utils.h, torch/csrc/autograd/VariableTypeUtils.h
// The small steps by which an op is recorded.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// Makes `output` the next output of `grad_fn`. Dtypes without a gradient do not come here.
inline void set_history(const Variable& output, const std::shared_ptr<Node>& grad_fn) {
  impl::set_gradient_edge(output, Edge(grad_fn, grad_fn->add_input_metadata(output)));
}

// Whether `self` may be changed in place now, while gradients are recorded. RuntimeError otherwise.
TORCH_API void check_inplace(const Variable& self);
// The part of it that concerns views. `indirect`: not the view itself was changed, but its base or another view.
TORCH_API void check_view_inplace(const Variable& self, bool indirect = false);
// How errors name the op behind a node: "Mul" for MulBackward0.
std::string forward_name(const Node& node);

} // namespace reftorch::torch::autograd
