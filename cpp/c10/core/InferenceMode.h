// Mirrors: c10/core/InferenceMode.h, c10/core/AutogradState.h
// Whether tensors made by this thread are inference tensors: without version and view tracking, for good.
#pragma once

#include <c10/core/GradMode.h>

namespace reftorch::c10 {

// Note [Inference tensors]
// Problem: no_grad records no graph, but still counts versions and tracks views, since its tensors may meet autograd
// later. Trick: who promises that they will not (inference mode) gets tensors with a flag, for which both are skipped.
// The promise is held: such a tensor can not be saved for backward, nor be changed in place outside of the mode. A view
// of a normal tensor is normal whatever the mode, for a change of it is a change of the tensor.
class InferenceMode final {
 public:
  // Grad mode goes with it: InferenceMode(false) inside of the mode records again.
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
