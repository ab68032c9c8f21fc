// Mirrors: aten/src/ATen/TensorSubclassLikeUtils.h
#pragma once

#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

namespace reftorch::at {

// Whether the tensor stands for others, or a mode sees every op on it: a wrapper of a function transform, a tensor of a
// class with __torch_dispatch__, any tensor inside of a TorchDispatchMode. Code that shares memory behind the back of
// the ops, or writes in place to save a copy, has to leave such a tensor alone: nobody here knows who owns what it
// holds.
inline bool isTensorSubclassLike(const Tensor& t) {
  return functorch::is_wrapper(t) || t.key_set().has(c10::DispatchKey::Python) ||
         c10::impl::tls_local_dispatch_key_set.included_.has(c10::DispatchKey::Python);
}

} // namespace reftorch::at
