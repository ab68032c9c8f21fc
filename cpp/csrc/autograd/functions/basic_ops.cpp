// Mirrors: torch/csrc/autograd/functions/basic_ops.cpp
#include <csrc/autograd/functions/basic_ops.h>

#include <c10/util/Exception.h>

namespace reftorch::torch::autograd {

variable_list NotImplemented::apply(variable_list&&) {
  TORCH_CHECK(false, "derivative for ", op_name, " is not implemented");
}

GraphRoot::GraphRoot(const edge_list& roots, variable_list gradients) : outputs_(std::move(gradients)) {
  for (const Edge& edge : roots) {
    add_next_edge(edge);
  }
}

} // namespace reftorch::torch::autograd
