// Mirrors: torch/csrc/autograd/saved_variable_hooks.h, aten/src/ATen/SavedTensorHooks.h
// Who packs a tensor that the graph keeps, and unpacks it when it is needed: to another device, a file, nowhere.
#pragma once

#include <csrc/autograd/function.h>

#include <functional>
#include <optional>

namespace reftorch::torch::autograd {

// One packed tensor.
struct TORCH_API SavedVariableHooks {
  virtual ~SavedVariableHooks() = default;
  virtual void call_pack_hook(const Variable& tensor) = 0;
  virtual Variable call_unpack_hook() = 0;
  virtual void visit_owned(OwnedVisitor& visitor) const {
    if (grad_fn != nullptr) {
      visitor.node(grad_fn);
    }
  }
  // Where the tensor's gradient goes, if it was an input: its grad_fn, or a leaf's accumulator.
  std::shared_ptr<Node> grad_fn;
  bool is_leaf = false;
  Variable tangent; // of a dual number; see Note [Forward mode]
};

// The pairs of hooks that a thread applies to whatever its ops save; the innermost counts.
struct TORCH_API SavedTensorDefaultHooks {
  using Make = std::function<std::shared_ptr<SavedVariableHooks>()>;

  static bool is_enabled() {
    return active_;
  }
  // Null while hooks are off for this thread.
  static std::shared_ptr<SavedVariableHooks> get_hooks();
  // RuntimeError if they are disabled; pop_hooks also if there are none.
  static void push_hooks(Make make);
  static void pop_hooks();
  // From now on push_hooks raises `message`. RuntimeError if there are hooks now.
  static void disable(const std::string& message);
  static void enable();
  static const std::optional<std::string>& disabled_error_message();

  // What a pass takes along when it moves to another thread.
  struct State {
    std::vector<Make> stack;
    std::optional<std::string> disabled_error_message;
  };
  static State get_state();
  static void set_state(State state);

 private:
  static inline thread_local bool active_ = false; // the stack is not empty
};

} // namespace reftorch::torch::autograd
