// Mirrors: torch/csrc/autograd/forward_grad.h, torch/csrc/autograd/autograd_meta.cpp
// Dual numbers: a tensor with a tangent, and how an op on them gives results with tangents. Left out: several levels at
// once (func.jvp nests by wrapping instead, see ATen/functorch/TensorWrapper.h).
#pragma once

#include <csrc/autograd/operator_info.h>

namespace reftorch::torch::autograd {

// Note [Forward mode]
// Problem: J v in one pass forward, without a second table of formulas. Trick: a tensor carries its tangent in its
// AutogradMeta. Where an argument has one, the autograd fallback calls the op as always, and then asks for the tangents
// of the results (reftorch/autograd/_jvp.py), which are made of ops: an op that is linear is called on the tangents;
// the formula of one that goes element by element serves both ways, for its Jacobian is diagonal; of any other the
// transposed Jacobian is known, that is its formula, and transposing that again is a backward pass through it.
struct ForwardGrad {
  Variable tangent;
};

// A level is where dual numbers live: when it is left, they lose their tangents. RuntimeError for a second one inside.
TORCH_API void enter_dual_level();
TORCH_API void exit_dual_level();

// Undefined where there is none. A view of a dual number is one too.
TORCH_API Variable fw_grad(const Variable& self);
// RuntimeError where the tangent does not fit.
TORCH_API void set_fw_grad(const Variable& self, Variable tangent);
// The number alone: the same data and history, no tangent.
TORCH_API Variable fw_primal(const Variable& self);
// For SavedVariable: what a saved output does not keep by itself.
void copy_fw_grad(const Variable& from, const Variable& to);

bool any_fw_grad(const OperatorInfo& info, const at::IValue* args);

// One call on dual numbers: keeps the arguments while the op runs.
class TangentCall final {
 public:
  TangentCall(const at::OperatorHandle& op, const OperatorInfo& info, const at::IValue* args);
  void set_tangents(const at::IValue* results, size_t num_results);

 private:
  void set_written(const Variable& written, const Variable& tangent) const;
  bool is_new(const Variable& result, const Variable& tangent) const;

  const at::OperatorHandle& op_;
  const OperatorInfo& info_;
  std::vector<at::IValue> primals_, tangents_; // by argument
};

// The tangents of an op's results, one for each tensor among them. Set by python_forward_ad.cpp.
TORCH_API extern std::vector<Variable> (*jvp_hook)(const at::OperatorHandle& op, const std::vector<at::IValue>& primals,
                                                   const std::vector<at::IValue>& tangents,
                                                   const std::vector<at::IValue>& results);

} // namespace reftorch::torch::autograd
