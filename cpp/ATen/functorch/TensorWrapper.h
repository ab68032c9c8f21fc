// Mirrors: aten/src/ATen/functorch/TensorWrapper.h, aten/src/ATen/functorch/BatchedTensorImpl.h
//
// The tensor that a function under a transform gets instead of the caller's tensor. The wrapper contains the caller's
// tensor and says to which transform it belongs. Under vmap, it hides a dimension. Left out: separate classes for grad
// and vmap; several hidden dimensions in one wrapper.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace reftorch::at::functorch {

// Note [Tensor wrappers]
// Problem: grad(f) inside vmap(g) must not record ops for a gradient that is taken outside, and an outer gradient must
// not record for the inner one. Also, a function written for one example has to run on a whole batch. Trick: each
// transform has a level and wraps its tensors. A wrapper of grad has its own graph, separate from that of any other
// level. A wrapper of vmap has the shape of one example. An op unwraps the tensors of the innermost level, does that
// transform's work, and continues with the tensors inside at the next level. At level 0, the tensors are plain tensors.
// A wrapper has no memory. The keys Front, Autograd and Back keep wrappers away from kernels, and code that reads
// memory without an op must first check `is_wrapper`.
struct TORCH_API TensorWrapper final : public TensorImpl {
  // `bdim` is the dimension of `value` that vmap hides. It is nullopt for other transforms, and under vmap for a tensor
  // that is the same for all examples. `is_alive` becomes false when the transform has returned.
  TensorWrapper(Tensor value, int64_t level, std::optional<int64_t> bdim, std::shared_ptr<const bool> is_alive);

  intrusive_ptr<TensorImpl> shallow_copy_and_detach(bool allow_version_sharing) override;
  // Copies the geometry from the value, after an op changed the geometry.
  void refresh_metadata();

  Tensor value_;
  int64_t level_;
  std::optional<int64_t> bdim_;
  std::shared_ptr<const bool> is_alive_;
};

inline bool is_wrapper(const Tensor& t) {
  return t.key_set().has(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}
// Returns null for a plain tensor, and for a tensor that has the keys of a wrapper but is of another class.
inline TensorWrapper* maybe_get_wrapper(const Tensor& t) {
  return t.defined() && is_wrapper(t) ? dynamic_cast<TensorWrapper*>(t.unsafeGetTensorImpl()) : nullptr;
}

// Returns whether vmap hides a dimension of the tensor, at any level.
TORCH_API bool is_batched(const Tensor& t);
// Unwraps the wrappers of transforms that have returned; other tensors are returned unchanged. Raises RuntimeError for
// a tensor that escaped from vmap, because its hidden dimension has no meaning any more.
TORCH_API Tensor unwrap_dead(Tensor t);
// Returns the plain tensor inside all wrappers, for code that reads memory. Raises RuntimeError that names `what` under
// vmap.
TORCH_API Tensor materialize(Tensor t, const char* what);

// Returns the plain tensor inside all wrappers, with all batch dimensions, for checks that look at each number alone.
TORCH_API Tensor innermost(Tensor t);

} // namespace reftorch::at::functorch
