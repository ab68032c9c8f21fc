// Mirrors: nothing in PyTorch: there a code generator works this out for each op (tools/autograd/gen_variable_type.py)
// What the autograd fallback knows of an op: read off the schema once, at the op's first call, and kept in a side table
// by entry.index.
#pragma once

#include <csrc/autograd/formula.h>

namespace reftorch::torch::autograd {

struct OperatorInfo {
  enum class Kind : uint8_t { Functional, Inplace, Out, View };
  Kind kind = Kind::Functional;
  bool non_differentiable = false;
  bool multi_output_view = false; // `Tensor(a)[]`
  bool inplace_view = false;      // t_, unsqueeze_: the tensor is seen anew, and nothing is written
  bool counts_new_shapes = false; // resize_: a tensor that has the shape already is not changed
  bool new_storage = false;       // set_: a leaf is another leaf after it, with a gradient edge of its own
  uint8_t view_source = 0;        // the argument whose storage the results share
  size_t num_arguments = 0;
  c10::SmallVector<uint8_t, 6> tensor_args; // positions that may hold tensors
  c10::SmallVector<uint8_t, 2> written_args;
  c10::SmallVector<uint8_t, 2> undifferentiable_args; // tensors that the formula does not cover
  const DerivativeFormula* formula = nullptr;         // null: no derivative is known
};

const OperatorInfo& operator_info(const at::OperatorEntry& entry);

// Formulas and marks live as long as the program. RuntimeError if the op has either already.
TORCH_API void register_derivative(at::OperatorEntry& entry, std::unique_ptr<DerivativeFormula> formula);
TORCH_API void register_non_differentiable(at::OperatorEntry& entry);

enum class DerivativeState : uint8_t { Missing, Formula, NonDifferentiable, Composite };
// How the op's derivative comes about; an in-place or out form goes by its functional form.
TORCH_API DerivativeState derivative_state(const at::OperatorEntry& entry);

} // namespace reftorch::torch::autograd
