// Mirrors: torch/csrc/autograd/cpp_hook.cpp
#include <csrc/autograd/cpp_hook.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

namespace reftorch::torch::autograd {

variable_list RetainGradHook::operator()(const variable_list& grads) {
  const Variable& grad = grads[output_nr_];
  const std::shared_ptr<Variable> retained = retained_grad_.lock();
  if (retained != nullptr && grad.defined()) {
    // Store a copy, because a later node may add to the travelling gradient in place.
    *retained = retained->defined() ? at::add(*retained, grad) : at::clone(grad);
  }
  return grads;
}

} // namespace reftorch::torch::autograd
