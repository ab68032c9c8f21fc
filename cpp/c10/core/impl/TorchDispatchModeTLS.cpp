// Mirrors: c10/core/impl/TorchDispatchModeTLS.cpp
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <c10/util/Exception.h>

namespace reftorch::c10::impl {

void (*pyobj_decref_hook)(PyObject* obj) = nullptr;

static thread_local TorchDispatchModeTLS::State torch_dispatch_modes;

// Adds the Python key to the thread's included keys if the stack has a mode, and removes it otherwise.
static void update_included_keys() {
  DispatchKeySet& included = tls_local_dispatch_key_set.included_;
  included = torch_dispatch_modes.empty() ? included - DispatchKey::Python : included | DispatchKey::Python;
}

void TorchDispatchModeTLS::push_onto_stack(std::shared_ptr<SafePyObject> mode) {
  torch_dispatch_modes.push_back(std::move(mode));
  update_included_keys();
}

std::shared_ptr<SafePyObject> TorchDispatchModeTLS::pop_stack() {
  TORCH_CHECK(!torch_dispatch_modes.empty(), "trying to pop from empty mode stack");
  std::shared_ptr<SafePyObject> mode = std::move(torch_dispatch_modes.back());
  torch_dispatch_modes.pop_back();
  update_included_keys();
  return mode;
}

size_t TorchDispatchModeTLS::stack_len() {
  return torch_dispatch_modes.size();
}

const TorchDispatchModeTLS::State& TorchDispatchModeTLS::get_state() {
  return torch_dispatch_modes;
}

void TorchDispatchModeTLS::set_state(State state) {
  torch_dispatch_modes = std::move(state);
  update_included_keys();
}

} // namespace reftorch::c10::impl
