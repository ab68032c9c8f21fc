// Mirrors: torch/csrc/autograd/function_hook.h
//
// Hooks, which see the gradients on their way and may replace them. Left out: compiled autograd's entry points.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace reftorch::torch::autograd {

using Variable = at::Tensor;
using variable_list = c10::SmallVector<Variable, 2>;
struct OwnedVisitor;

// A hook that runs before a node, on the gradients that arrive at the node.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

// A hook that runs after a node; `outputs` are the gradients that the node computed from `inputs`.
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

// A hook that runs after a leaf's .grad was updated.
struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Variable& tensor) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

} // namespace reftorch::torch::autograd
