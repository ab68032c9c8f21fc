// Mirrors: nothing in PyTorch: its code generator works this out for each op (tools/autograd/gen_variable_type.py)
//
// What the autograd fallback knows about an op. The facts are read from the schema once, at the first call of the op,
// and kept in a side table by entry.index.
#pragma once

#include <csrc/autograd/formula.h>

namespace reftorch::torch::autograd {

struct OperatorInfo {
  enum class Kind : uint8_t { Functional, Inplace, Out, View };
  Kind kind = Kind::Functional;
  bool non_differentiable = false;
  bool warns_not_implemented = false; // an op of another library than aten that has no formula
  bool multi_output_view = false;     // `Tensor(a)[]`
  bool inplace_view = false;          // t_, unsqueeze_: the op changes the geometry of the tensor, and no element
  bool counts_new_shapes = false;     // resize_: the version is bumped only if the shape changes
  bool new_storage = false;           // set_: afterwards a leaf counts as another leaf, with a gradient edge of its own
  bool copies = false;                // clone, _to_copy: a normal tensor gets the values of an inference tensor
  uint8_t view_source = 0;            // the position of the argument whose storage the results share
  size_t num_arguments = 0;
  c10::SmallVector<uint8_t, 6> tensor_args; // the positions of arguments that may hold tensors
  c10::SmallVector<uint8_t, 2> written_args;
  c10::SmallVector<uint8_t, 2> undifferentiable_args; // tensors that the formula does not differentiate
  const DerivativeFormula* formula = nullptr;         // null: no derivative is known
};

const OperatorInfo& operator_info(const at::OperatorEntry& entry);

// Registers the derivative of an op, or the mark that the op has none. Both live as long as the program. Throws a
// RuntimeError if the op has either already.
TORCH_API void register_derivative(at::OperatorEntry& entry, std::unique_ptr<DerivativeFormula> formula);
TORCH_API void register_non_differentiable(at::OperatorEntry& entry);

enum class DerivativeState : uint8_t { Missing, Formula, NonDifferentiable, Composite };
// How the op gets its derivative. An in-place op or an out variant gets it from its functional form.
TORCH_API DerivativeState derivative_state(const at::OperatorEntry& entry);

} // namespace reftorch::torch::autograd
