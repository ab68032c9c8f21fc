// Mirrors: c10/core/InferenceMode.h, c10/core/AutogradState.h
//
// Whether the tensors that this thread makes are inference tensors, which never have version counting or view tracking.
#pragma once

#include <c10/core/GradMode.h>

namespace reftorch::c10 {

// Note [Inference tensors]
// Problem: under no_grad, ops record no graph but still count versions and track views, because the tensors may meet
// autograd later. Trick: a program that enters inference mode promises that its tensors never meet autograd. Tensors
// made in this mode carry a flag, and for them both costs are skipped. The promise is checked: an inference tensor
// cannot be saved for backward, and cannot be changed in place outside inference mode. A view of a normal tensor is
// always a normal tensor, because a change of the view changes the tensor.
class InferenceMode final {
 public:
  // Inference mode also sets grad mode: ops are not recorded inside the mode, and InferenceMode(false) inside it
  // records again.
  explicit InferenceMode(bool enabled = true) : saved_(current()) {
    restore({enabled, !enabled});
  }
  ~InferenceMode() {
    restore(saved_);
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  static bool is_enabled() {
    return enabled_;
  }

  struct State {
    bool inference, grad;
  };
  static State current() {
    return {enabled_, GradMode::is_enabled()};
  }
  static void restore(State state) {
    enabled_ = state.inference;
    GradMode::set_enabled(state.grad);
  }

 private:
  static inline thread_local bool enabled_ = false;
  State saved_;
};

} // namespace reftorch::c10
