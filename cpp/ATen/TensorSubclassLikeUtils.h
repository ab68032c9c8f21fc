// Mirrors: aten/src/ATen/TensorSubclassLikeUtils.h
#pragma once

#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

namespace reftorch::at {

// Returns whether the tensor stands for other tensors, or whether a mode sees every op on it: wrappers of function
// transforms, tensors of a class with __torch_dispatch__, and any tensor inside a TorchDispatchMode. Code that shares
// memory without an op, or writes in place to save a copy, must not do this with such a tensor, because the code does
// not know who owns the memory of the tensors inside.
inline bool isTensorSubclassLike(const Tensor& t) {
  return functorch::is_wrapper(t) || t.key_set().has(c10::DispatchKey::Python) ||
         c10::impl::tls_local_dispatch_key_set.included_.has(c10::DispatchKey::Python);
}

} // namespace reftorch::at
