// Mirrors: nothing in PyTorch: its code generator writes one Node subclass per op; here one node serves all ops
//
// Describes as data what the derivative of an op needs, and declares the node that stores these values. This file does
// not fix how a formula is evaluated: csrc/autograd/python_formula.cpp calls Python, and a hot formula may be written
// in C++ by deriving from both structs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

// A value that the graph keeps for a formula.
struct SavedField {
  enum class Kind : uint8_t {
    Variable,     // a Tensor argument
    VariableList, // a Tensor[] argument
    Result,       // a tensor that the op returned
    Value,        // an argument that is a number, a list, a dtype ...
    Sizes,        // the shape of a Tensor argument
    Strides,
    StorageOffset,
    ScalarType,
    Device,
    SizesList, // the shapes of a Tensor[] argument
  };
  Kind kind;
  uint8_t index;     // the position of the argument or of the result
  uint8_t slot;      // the position in the node's vector for this kind
  uint64_t asked_by; // bit i: the derivative of differentiable input i reads this field
  std::string name;

  bool holds_tensors() const {
    return kind == Kind::Variable || kind == Kind::VariableList || kind == Kind::Result;
  }
};

struct FormulaNode;

struct TORCH_API DerivativeFormula {
  virtual ~DerivativeFormula() = default;
  virtual std::shared_ptr<FormulaNode> make_node() const = 0;

  // Finds or adds the field that a formula's parameter `name` stands for, and records in `asked_by` who reads the
  // field. Throws a RuntimeError that lists the possible names if no value has this name. The docstring of
  // reftorch/autograd/derivatives/__init__.py explains the names.
  const SavedField& field(const at::FunctionSchema& schema, const std::string& name, uint64_t asked_by);

  std::string node_name;       // "MulBackward0"
  std::vector<uint8_t> inputs; // the positions of the differentiable arguments, ascending
  bool has_list_inputs = false;
  uint64_t undifferentiable_results = 0; // bit i: result i has no gradient, for example an index
  std::vector<SavedField> fields;
  uint8_t num_variables = 0, num_lists = 0, num_values = 0, num_sizes_lists = 0;
};

// The node of an op that has a formula. It stores the saved values in the slots that the formula assigned.
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

  // Adds an edge for each differentiable argument of a call. Returns which of these inputs need a gradient (bit i
  // stands for formula.inputs[i]).
  uint64_t collect_next_edges(const at::IValue* args);
  // Saves those arguments that the formulas of the `needed` inputs read. If an in-place op is about to change argument
  // 0, `self_before` is a copy that is saved in its place.
  void save_arguments(const at::IValue* args, uint64_t needed, const Variable& self_before);
  // Saves a result that the formulas of the `needed` inputs read. Call this function after the result has its history.
  void save_result(size_t index, const Variable& result, uint64_t needed, bool is_inplace_on_view);
  // Returns whether the formula of one of the `needed` inputs reads the values of argument `index`.
  bool saves_argument(size_t index, uint64_t needed) const;

  // The edges of differentiable input `input`: one edge for a tensor, one per element for a list.
  uint32_t edge_begin(size_t input) const {
    return edge_ends_.empty() ? static_cast<uint32_t>(input) : input == 0 ? 0 : edge_ends_[input - 1];
  }
  uint32_t edge_end(size_t input) const {
    return edge_ends_.empty() ? static_cast<uint32_t>(input) + 1 : edge_ends_[input];
  }

  // Unpacks a saved tensor. Throws a RuntimeError if the tensor was freed, or was changed in place since it was saved.
  // See Note [Locks and the GIL].
  Variable unpack(const SavedField& field);
  std::vector<Variable> unpack_list(const SavedField& field);
  // The saved tensors of a field, still packed: one for a tensor, several for a list.
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
  c10::SmallVector<uint32_t, 2> edge_ends_; // empty unless an input is a list
};

} // namespace reftorch::torch::autograd
