// Mirrors: aten/src/ATen/ThreadLocalState.h
// What a thread has set for its ops, to be taken along to another thread. Left out: dispatch modes, debug info.
#pragma once

#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <csrc/autograd/saved_variable_hooks.h>

namespace reftorch::torch::autograd {

struct ThreadLocalState final {
  // Of the calling thread.
  ThreadLocalState()
      : inference_mode(c10::InferenceMode::current()),
        dispatch_keys(c10::impl::tls_local_dispatch_key_set),
        saved_tensor_hooks(SavedTensorDefaultHooks::get_state()) {}

  // Makes it the calling thread's.
  void set() const {
    c10::InferenceMode::restore(inference_mode);
    c10::impl::tls_local_dispatch_key_set = dispatch_keys;
    SavedTensorDefaultHooks::set_state(saved_tensor_hooks);
  }

  c10::InferenceMode::State inference_mode;
  c10::impl::LocalDispatchKeySet dispatch_keys;
  SavedTensorDefaultHooks::State saved_tensor_hooks;
};

} // namespace reftorch::torch::autograd
