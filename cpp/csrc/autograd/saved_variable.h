// Mirrors: torch/csrc/autograd/saved_variable.h
//
// A tensor that a node saves for the backward pass. It notices in-place changes of the tensor, and a node that saves
// its own output makes no reference cycle.
#pragma once

#include <csrc/autograd/saved_variable_hooks.h>
#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// Note [Saved outputs]
// Problem: exp saves its result. If the node owned the result, and the result its grad_fn, which is this node, neither
// would ever be freed. Trick: of an output only the data is saved, as a tensor without history that shares storage and
// version. unpack() gets the node and restores the history. After an in-place op on a view, the grad_fn of the output
// is not this node, which is inside a CopySlices, but the grad_fn of the view; it is held weakly.
//
// Note [Saved tensor hooks]
// With hooks, the result of pack() is saved in place of the tensor, and unpack() must return a tensor. The history is
// saved separately and given to the tensor that unpack() returns. In-place changes cannot be noticed through hooks, so
// versions are not checked.
class TORCH_API SavedVariable final {
 public:
  SavedVariable() = default;
  // `is_output` says that the tensor is an output of the node that saves it; set the history of the tensor first.
  // Throws a RuntimeError for an inference tensor.
  SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view = false);

  // Returns the tensor as it was saved; undefined if none was saved. `saved_for` is the node that saves the tensor,
  // which is needed for its own outputs. Throws a RuntimeError if the tensor was freed, or was changed in place since.
  // With hooks this function runs Python, so the caller must not hold a lock.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const;
  // Releases the tensor. The contents move into the result, so that the caller can drop them when it holds no lock.
  SavedVariable release();
  // Packs the saved tensor now. Throws a RuntimeError if there are hooks already, or if nothing is saved.
  void register_hooks(std::shared_ptr<SavedVariableHooks> hooks);
  bool has_hooks() const {
    return hooks_ != nullptr;
  }
  // Null if there are no hooks.
  const SavedVariableHooks* hooks() const {
    return hooks_.get();
  }
  void visit_owned(OwnedVisitor& visitor) const;
  // The saved tensor, if it is not packed; undefined after it was freed. For tools that show a graph.
  const Variable& data() const {
    return data_;
  }

 private:
  void save_metadata(SavedVariableHooks& hooks, const Variable& variable, bool is_output);
  void set_hooks_and_pack_data(std::shared_ptr<SavedVariableHooks> hooks, const Variable& data);
  void check_version(const std::shared_ptr<Node>& grad_fn) const;
  void check_no_hooks() const;

  Variable data_;
  std::shared_ptr<SavedVariableHooks> hooks_;
  std::weak_ptr<Node> weak_grad_fn_; // only for an in-place op on a view
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_saved_ = false;
  bool saved_original_ = false; // data_ is the caller's tensor itself, not a detached alias
  bool had_grad_fn_ = false;    // whether the caller's tensor had a grad_fn when it was saved
};

extern const char* const ERR_BACKWARD_TWICE;

} // namespace reftorch::torch::autograd
