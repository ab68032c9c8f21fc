// Mirrors: torch/csrc/autograd/function_hook.h
// What may watch or replace gradients on their way. Left out: compiled autograd's entry points.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace reftorch::torch::autograd {

using Variable = at::Tensor;
using variable_list = c10::SmallVector<Variable, 2>;
struct OwnedVisitor;

// Runs before a node, on the gradients that reach it.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

// Runs after a node: `outputs` are the gradients it made from `inputs`.
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

// Runs when a leaf's .grad has its new value.
struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Variable& tensor) = 0;
  virtual void visit_owned(OwnedVisitor&) const {}
};

} // namespace reftorch::torch::autograd
