// Mirrors: torch/csrc/autograd/saved_variable.h
// A tensor kept for backward: it notices when the tensor was changed in place, and keeping a node's own output makes no
// cycle.
#pragma once

#include <csrc/autograd/saved_variable_hooks.h>
#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// Note [Saved outputs]
// Problem: exp saves its result; result -> grad_fn -> saved result would own itself, and never be freed.
// Trick: of an output, only the data is kept (a tensor without history that shares storage and version). unpack() is
// told the node and puts the history back. An in-place op on a view ends up inside a CopySlices, so its output's
// history is the view's grad_fn, held weakly.
//
// Note [Saved tensor hooks]
// With hooks, what pack() made of the tensor is kept in its place, and unpack() must give a tensor back. The history
// is kept beside it and given to what comes back. Versions can not be followed through
// hooks, so they are not checked.
class TORCH_API SavedVariable final {
 public:
  SavedVariable() = default;
  // `is_output`: of the node that saves it; set its history first. RuntimeError for an inference tensor.
  SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view = false);

  // The tensor as it was saved; undefined if none was. `saved_for` is the node that saves it, needed for its own
  // outputs. RuntimeError if it was freed, or changed in place since. With hooks this runs Python: hold no lock.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const;
  // Forgets the tensor. What it held moves into the result, for the caller to drop when it holds no lock.
  SavedVariable release();
  // Packs what is saved here, now. RuntimeError if there are hooks, or nothing is saved.
  void register_hooks(std::shared_ptr<SavedVariableHooks> hooks);
  bool has_hooks() const {
    return hooks_ != nullptr;
  }
  // Null where there are none.
  const SavedVariableHooks* hooks() const {
    return hooks_.get();
  }
  void visit_owned(OwnedVisitor& visitor) const;
  // The tensor that is kept, if it is not packed; undefined once freed. For those who look at a graph.
  const Variable& data() const {
    return data_;
  }

 private:
  void save_metadata(SavedVariableHooks& hooks, const Variable& variable, bool is_output);
  void set_hooks_and_pack_data(std::shared_ptr<SavedVariableHooks> hooks, const Variable& data);
  void check_version(const std::shared_ptr<Node>& grad_fn) const;

  Variable data_;
  std::shared_ptr<SavedVariableHooks> hooks_;
  std::weak_ptr<Node> weak_grad_fn_; // only for an in-place op on a view
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_saved_ = false;
  bool saved_original_ = false;
  bool had_grad_fn_ = false; // of the original // data_ is the very tensor, so its Python identity is kept too
};

extern const char* const ERR_BACKWARD_TWICE;

} // namespace reftorch::torch::autograd
