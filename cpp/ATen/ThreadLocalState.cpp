// Mirrors: aten/src/ATen/ThreadLocalState.cpp
#include <ATen/ThreadLocalState.h>

#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace reftorch::at {

// A static variable inside a function, because the files that register variables are initialized in any order.
static std::vector<ThreadLocalState::Variable>& registered_thread_locals() {
  static auto* all = new std::vector<ThreadLocalState::Variable>;
  return *all;
}

void ThreadLocalState::add(Variable variable) {
  registered_thread_locals().push_back(variable);
}

const std::vector<ThreadLocalState::Variable>& ThreadLocalState::variables() {
  return registered_thread_locals();
}

ThreadLocalState::ThreadLocalState() {
  values_.reserve(variables().size());
  for (const Variable& variable : variables()) {
    values_.push_back(variable.get());
  }
}

void ThreadLocalState::setThreadLocalState(const ThreadLocalState& state) {
  for (size_t i = 0; i < state.values_.size(); i++) {
    variables()[i].set(state.values_[i]);
  }
}

// ---- The variables of c10, which must not include this file

static c10::impl::LocalDispatchKeySet get_local_keys() {
  return c10::impl::tls_local_dispatch_key_set;
}
static void set_local_keys(const c10::impl::LocalDispatchKeySet& keys) {
  c10::impl::tls_local_dispatch_key_set = keys;
}

// Grad mode is a part of InferenceMode::State.
static const RegisterThreadLocal<&c10::InferenceMode::current, &c10::InferenceMode::restore> inference_mode(
    "InferenceMode.h: InferenceMode::enabled_");
static const RegisterThreadLocal<&c10::GradMode::is_enabled, &c10::GradMode::set_enabled> grad_mode(
    "GradMode.h: GradMode::enabled_");
static const RegisterThreadLocal<&c10::ViewReplay::is_enabled, &c10::ViewReplay::set_enabled> view_replay(
    "GradMode.h: ViewReplay::enabled_");
static const RegisterThreadLocal<&c10::BackwardMultithreading::is_enabled, &c10::BackwardMultithreading::set_enabled>
    backward_multithreading("GradMode.h: BackwardMultithreading::enabled_");
static const RegisterThreadLocal<&c10::ForwardAD::is_enabled, &c10::ForwardAD::set_enabled> forward_ad(
    "GradMode.h: ForwardAD::enabled_");
static const RegisterThreadLocal<&get_local_keys, &set_local_keys> local_keys(
    "LocalDispatchKeySet.h: tls_local_dispatch_key_set");

} // namespace reftorch::at
