// Mirrors: nothing in PyTorch: there a code generator writes one Node subclass per op from derivatives.yaml; here one
// node serves all ops What an op's derivative asks for, as data, and the node that keeps it. Who evaluates the formula
// is open: csrc/autograd/python_formula.cpp calls Python; a hot formula may be written in C++ by deriving from both
// structs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

// One value that the graph keeps for a formula.
struct SavedField {
  enum class Kind : uint8_t {
    Variable,     // a Tensor argument
    VariableList, // a Tensor[] argument
    Result,       // a tensor the op returned
    Value,        // a number, list, dtype ... argument
    Sizes,        // shape of a Tensor argument
    Strides,
    StorageOffset,
    ScalarType,
    Device,
    SizesList, // shapes of a Tensor[] argument
  };
  Kind kind;
  uint8_t index;     // of the argument, or of the result
  uint8_t slot;      // where in the node's store of that kind
  uint64_t asked_by; // bit i: the derivative of differentiable input i reads it
  std::string name;

  bool holds_tensors() const {
    return kind == Kind::Variable || kind == Kind::VariableList || kind == Kind::Result;
  }
};

struct FormulaNode;

struct TORCH_API DerivativeFormula {
  virtual ~DerivativeFormula() = default;
  virtual std::shared_ptr<FormulaNode> make_node() const = 0;

  // Finds or adds the field that a formula's parameter `name` stands for, and notes who reads it. RuntimeError that
  // lists what may be named, if nothing is called so. See reftorch/autograd/derivatives/__init__.py for the names.
  const SavedField& field(const at::FunctionSchema& schema, const std::string& name, uint64_t asked_by);

  std::string node_name;       // "MulBackward0"
  std::vector<uint8_t> inputs; // differentiable arguments, ascending
  bool has_list_inputs = false;
  uint64_t undifferentiable_results = 0; // bit i: result i is a constant to autograd, as an index is
  std::vector<SavedField> fields;
  uint8_t num_variables = 0, num_lists = 0, num_values = 0, num_sizes_lists = 0;
};

// The node of an op with a formula: its saved values, in the formula's slots.
struct TORCH_API FormulaNode : public Node {
  explicit FormulaNode(const DerivativeFormula& formula_) : formula(formula_) {
    saved_variables_.resize(formula.num_variables);
    saved_values_.resize(formula.num_values);
    saved_lists_.resize(formula.num_lists);
    saved_sizes_lists_.resize(formula.num_sizes_lists);
  }
  std::string name() const override {
    return formula.node_name;
  }
  void release_variables() override;

  // Fills edges from the arguments of a call; returns which differentiable inputs need a gradient (bit i:
  // formula.inputs[i]).
  uint64_t collect_next_edges(const at::IValue* args);
  // Saves what those inputs' formulas read of the arguments. `self_before` replaces argument 0 if an in-place op is
  // about to change it.
  void save_arguments(const at::IValue* args, uint64_t needed, const Variable& self_before);
  // The same for results, when they have their history.
  void save_result(size_t index, const Variable& result, uint64_t needed, bool is_inplace_on_view);
  // Whether the formula needs the values of argument `index` for one of `needed`.
  bool saves_argument(size_t index, uint64_t needed) const;

  // The first edge of differentiable input `input`, and how many there are (1, or the length of a list).
  uint32_t edge_begin(size_t input) const {
    return edge_ends_.empty() ? static_cast<uint32_t>(input) : input == 0 ? 0 : edge_ends_[input - 1];
  }
  uint32_t edge_end(size_t input) const {
    return edge_ends_.empty() ? static_cast<uint32_t>(input) + 1 : edge_ends_[input];
  }

  // Unpacks a saved tensor; RuntimeError if it is gone or was changed. See Note [Locks and the GIL].
  Variable unpack(const SavedField& field);
  std::vector<Variable> unpack_list(const SavedField& field);
  // What is saved, as it is: one for a tensor, several for a list.
  at::ArrayRef<SavedVariable> raw(const SavedField& field);
  void visit_owned(OwnedVisitor& visitor) const override;

  const c10::SmallVector<at::IValue, 4>& saved_values() const {
    return saved_values_;
  }
  const std::vector<std::vector<at::DimVector>>& saved_sizes_lists() const {
    return saved_sizes_lists_;
  }

  const DerivativeFormula& formula;

 private:
  Variable unpack(const SavedVariable& saved);

  c10::SmallVector<SavedVariable, 2> saved_variables_;
  c10::SmallVector<at::IValue, 4> saved_values_;
  std::vector<std::vector<SavedVariable>> saved_lists_;
  std::vector<std::vector<at::DimVector>> saved_sizes_lists_;
  c10::SmallVector<uint32_t, 2> edge_ends_; // only if a list is among the inputs
};

} // namespace reftorch::torch::autograd
