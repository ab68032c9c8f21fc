// Mirrors: torch/csrc/autograd/saved_variable.h
// A tensor kept for backward: it notices when the tensor was changed in place, and keeping a node's own output makes no
// cycle. Left out: saved-tensor hooks.
#pragma once

#include <csrc/autograd/variable.h>

namespace reftorch::torch::autograd {

// Note [Saved outputs]
// Problem: exp saves its result; result -> grad_fn -> saved result would own itself, and never be freed.
// Trick: of an output, only the data is kept (a tensor without history that shares storage and version). unpack() is
// told the node and puts the history back. An in-place op on a view ends up inside a CopySlices, so its output's
// history is the view's grad_fn, held weakly.
class TORCH_API SavedVariable final {
 public:
  SavedVariable() = default;
  // `is_output`: of the node that saves it; set its history first.
  SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view = false);

  // The tensor as it was saved; undefined if none was. `saved_for` is the node that saves it, needed for its own
  // outputs. RuntimeError if it was freed, or changed in place since.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const;
  // Forgets the tensor, and gives it to the caller to drop.
  Variable release_data() {
    return std::move(data_);
  }
  bool was_saved() const {
    return was_saved_;
  }

 private:
  [[noreturn]] void report_version(const std::shared_ptr<Node>& grad_fn) const;

  Variable data_;
  std::weak_ptr<Node> weak_grad_fn_; // only for an in-place op on a view
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_saved_ = false;
  bool saved_original_ = false; // data_ is the very tensor, so its Python identity is kept too
};

extern const char* const ERR_BACKWARD_TWICE;

} // namespace reftorch::torch::autograd
