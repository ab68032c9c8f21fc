// Mirrors: torch/csrc/autograd/forward_grad.h, torch/csrc/autograd/autograd_meta.cpp
//
// Dual numbers, that is tensors with a tangent, and the rule by which an op on dual numbers returns results with
// tangents. Left out: several levels at once (func.jvp nests by wrapping instead, see ATen/functorch/TensorWrapper.h).
#pragma once

#include <csrc/autograd/operator_info.h>

namespace reftorch::torch::autograd {

// Note [Forward mode]
// Problem: compute J v in one forward pass, without a second table of formulas. Trick: a tensor keeps its tangent in
// its AutogradMeta. If an argument has a tangent, the autograd fallback calls the op as always and then asks for the
// tangents of the results. reftorch/autograd/_jvp.py computes them by calling ops, in one of three ways. A linear op is
// called on the tangents. The formula of an elementwise op works in both directions, because the Jacobian is diagonal.
// For every other op, the formula computes the product with the transposed Jacobian, and a backward pass through the
// formula transposes this product once more.
struct ForwardGrad {
  Variable tangent;
};

// Dual numbers exist inside a level: leaving the level removes their tangents. enter_dual_level throws a RuntimeError
// if a level is open already.
TORCH_API void enter_dual_level();
TORCH_API void exit_dual_level();

// Returns the tangent of `self`, or an undefined tensor if `self` is not a dual number. A view of a dual number has a
// tangent too: the same view of the base's tangent.
TORCH_API Variable fw_grad(const Variable& self);
// Makes `self` a dual number. Throws a RuntimeError if the tangent differs from `self` in shape or dtype.
TORCH_API void set_fw_grad(const Variable& self, Variable tangent);
// Returns the primal of a dual number: a tensor with the same data and history and without the tangent.
TORCH_API Variable fw_primal(const Variable& self);
// Gives `to` the tangent of `from`. SavedVariable needs this function, because a saved output is stored as a tensor
// without history and tangent.
void copy_fw_grad(const Variable& from, const Variable& to);

bool any_fw_grad(const OperatorInfo& info, const at::IValue* args);

// One op call on dual numbers. It keeps the arguments while the op runs, because the tangents are computed afterwards.
class DualCall final {
 public:
  DualCall(const at::OperatorHandle& op, const OperatorInfo& info, const at::IValue* args);
  void set_tangents(const at::IValue* results, size_t num_results);

 private:
  void set_written(const Variable& written, const Variable& tangent) const;
  bool is_new(const Variable& result, const Variable& tangent) const;

  const at::OperatorHandle& op_;
  const OperatorInfo& info_;
  std::vector<at::IValue> primals_, tangents_; // one for each argument
};

// Computes the tangents of an op's results, one for each tensor among them. python_forward_ad.cpp sets the function.
TORCH_API extern std::vector<Variable> (*jvp_hook)(const at::OperatorHandle& op, const std::vector<at::IValue>& primals,
                                                   const std::vector<at::IValue>& tangents,
                                                   const std::vector<at::IValue>& results);

} // namespace reftorch::torch::autograd
