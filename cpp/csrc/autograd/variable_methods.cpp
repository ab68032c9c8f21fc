// Mirrors: torch/csrc/autograd/variable.cpp (VariableHooks), torch/csrc/autograd/autograd.cpp
//
// What extensions call of autograd: the methods of Tensor that concern gradients, and the grad mode.
#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/engine.h>
#include <csrc/autograd/grad_mode.h>
#include <csrc/autograd/variable.h>

namespace reftorch {

namespace torch::autograd {

bool grad_mode_is_enabled() {
  return c10::GradMode::is_enabled();
}
void set_grad_mode(bool enabled) {
  c10::GradMode::set_enabled(enabled);
}

} // namespace torch::autograd

namespace at {

using torch::autograd::Edge;
using torch::autograd::Engine;

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  TORCH_CHECK(requires_grad || torch::autograd::impl::is_leaf(*this),
              "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
              "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  if (requires_grad || this->requires_grad()) {
    Tensor self = *this;
    torch::autograd::impl::materialize_autograd_meta(self)->set_requires_grad(requires_grad, self);
  }
  return *this;
}

bool Tensor::is_leaf() const {
  return torch::autograd::impl::is_leaf(*this);
}

void Tensor::retain_grad() const {
  torch::autograd::impl::retain_grad(*this);
}

Tensor Tensor::grad() const {
  return torch::autograd::impl::get_grad(*this);
}

Tensor& Tensor::mutable_grad() const {
  return torch::autograd::impl::materialize_autograd_meta(*this)->mutable_grad();
}

Tensor Tensor::data() const {
  return torch::autograd::impl::variable_data(*this);
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  const Edge root = torch::autograd::impl::gradient_edge(*this);
  TORCH_CHECK(root.is_valid(), "element 0 of tensors does not require grad and does not have a grad_fn");
  TORCH_CHECK(gradient.defined() || numel() == 1, "grad can be implicitly created only for scalar outputs");
  const Tensor first = gradient.defined() ? gradient : at::ones_like(*this);
  Engine::get_default_engine().execute({root}, {first}, retain_graph.value_or(create_graph), create_graph,
                                       /*accumulate_grad=*/true);
}

} // namespace at

} // namespace reftorch
