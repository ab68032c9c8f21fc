// Mirrors: torch/csrc/autograd/saved_variable_hooks.h, aten/src/ATen/SavedTensorHooks.h
//
// Hooks that pack a tensor when the graph saves it, and unpack it when the graph needs it. A hook may move the tensor
// to another device or to a file, for example.
#pragma once

#include <csrc/autograd/function.h>

#include <functional>
#include <optional>

namespace reftorch::torch::autograd {

// The hooks of one saved tensor, and the packed tensor.
struct TORCH_API SavedVariableHooks {
  virtual ~SavedVariableHooks() = default;
  virtual void call_pack_hook(const Variable& tensor) = 0;
  virtual Variable call_unpack_hook() = 0;
  virtual void visit_owned(OwnedVisitor& visitor) const {
    if (grad_fn != nullptr) {
      visitor.node(grad_fn);
    }
  }
  // The node that receives the tensor's gradient, if the tensor was an input: its grad_fn, or the accumulator of a
  // leaf.
  std::shared_ptr<Node> grad_fn;
  bool is_leaf = false;
  Variable tangent; // the tangent of a dual number; see Note [Forward mode]
};

// The stack of hook pairs that a thread applies to every tensor that its ops save. Only the innermost pair applies.
struct TORCH_API SavedTensorDefaultHooks {
  using Make = std::function<std::shared_ptr<SavedVariableHooks>()>;

  static bool is_enabled() {
    return active_;
  }
  // Returns new hooks of the innermost pair; null if there is none.
  static std::shared_ptr<SavedVariableHooks> get_hooks();
  // push_hooks throws a RuntimeError if hooks are disabled; pop_hooks throws one if there are none.
  static void push_hooks(Make make);
  static void pop_hooks();
  // After this call, push_hooks throws a RuntimeError with `message`. disable itself throws it if there are hooks now.
  static void disable(const std::string& message);
  static void enable();
  static const std::optional<std::string>& disabled_error_message();

  // The state that a pass takes along when it moves to another thread.
  struct State {
    std::vector<Make> stack;
    std::optional<std::string> disabled_error_message;
  };
  static State get_state();
  static void set_state(State state);

 private:
  static inline thread_local bool active_ = false; // whether the stack is not empty
};

} // namespace reftorch::torch::autograd
