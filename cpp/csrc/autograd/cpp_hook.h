// Mirrors: torch/csrc/autograd/cpp_hook.h
//
// The hooks that need no Python, which is only the hook of retain_grad. Left out: user hooks written in C++.
#pragma once

#include <csrc/autograd/function_hook.h>

#include <memory>

namespace reftorch::torch::autograd {

// Stores the gradient of output `output_nr` in a slot that this hook shares with the tensor, as long as the tensor
// lives.
class RetainGradHook final : public FunctionPreHook {
 public:
  RetainGradHook(const std::shared_ptr<Variable>& retained_grad, uint32_t output_nr)
      : retained_grad_(retained_grad), output_nr_(output_nr) {}
  variable_list operator()(const variable_list& grads) override;

 private:
  std::weak_ptr<Variable> retained_grad_;
  uint32_t output_nr_;
};

} // namespace reftorch::torch::autograd
