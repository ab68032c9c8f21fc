// Mirrors: torch/csrc/autograd/functions/accumulate_grad.h
// The node behind a leaf: it adds the gradient to the leaf's .grad. Left out: sparse and nested gradients.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

struct TORCH_API AccumulateGrad final : public Node {
  explicit AccumulateGrad(Variable leaf);

  std::string name() const override {
    return "torch::autograd::AccumulateGrad";
  }
  void visit_owned(OwnedVisitor& visitor) const override;
  // The leaf's own hooks, whenever they were registered; a leaf has no other grad_fn to keep them.
  void call_tensor_pre_hooks(variable_list& grads) override;

  Variable variable;

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  void accumulate(Variable& new_grad);
};

} // namespace reftorch::torch::autograd
