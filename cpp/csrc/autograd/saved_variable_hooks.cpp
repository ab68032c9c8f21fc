// Mirrors: aten/src/ATen/SavedTensorHooks.cpp
#include <csrc/autograd/saved_variable_hooks.h>

#include <ATen/ThreadLocalState.h>
#include <c10/util/Exception.h>

namespace reftorch::torch::autograd {

static thread_local SavedTensorDefaultHooks::State state;

static void check_not_disabled() {
  TORCH_CHECK(!state.disabled_error_message.has_value(), *state.disabled_error_message);
}

std::shared_ptr<SavedVariableHooks> SavedTensorDefaultHooks::get_hooks() {
  return state.stack.empty() ? nullptr : state.stack.back()();
}

void SavedTensorDefaultHooks::push_hooks(Make make) {
  check_not_disabled();
  state.stack.push_back(std::move(make));
  active_ = true;
}

void SavedTensorDefaultHooks::pop_hooks() {
  TORCH_CHECK(!state.stack.empty(), "there are no saved tensor hooks to take away");
  state.stack.pop_back();
  active_ = !state.stack.empty();
}

void SavedTensorDefaultHooks::disable(const std::string& message) {
  TORCH_CHECK(state.stack.empty(), message);
  state.disabled_error_message = message;
}

void SavedTensorDefaultHooks::enable() {
  state.disabled_error_message.reset();
}

const std::optional<std::string>& SavedTensorDefaultHooks::disabled_error_message() {
  return state.disabled_error_message;
}

SavedTensorDefaultHooks::State SavedTensorDefaultHooks::get_state() {
  return state;
}

void SavedTensorDefaultHooks::set_state(State fresh) {
  state = std::move(fresh);
  active_ = !state.stack.empty();
}

static const at::RegisterThreadLocal<&SavedTensorDefaultHooks::get_state, &SavedTensorDefaultHooks::set_state>
    register_saved_tensor_hooks("saved_variable_hooks.cpp: state");

} // namespace reftorch::torch::autograd
