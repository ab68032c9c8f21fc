// Mirrors: aten/src/ATen/functorch/TensorWrapper.h, aten/src/ATen/functorch/BatchedTensorImpl.h
// The tensor that a function under a transform sees in place of the caller's: it holds that one, and says to which
// transform it belongs. Under vmap it hides a dimension. Left out: two classes for the two kinds; several hidden
// dimensions in one wrapper.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace reftorch::at::functorch {

// Note [Tensor wrappers]
// Problem: grad(f) inside of vmap(g) must not record what belongs to a gradient that is taken outside, nor the other
// way round; and a function written for one example is to be run on a whole batch. Trick: each transform has a level,
// and wraps what it is about: a wrapper of grad has a graph of its own and no other tensor's; a wrapper of vmap has the
// shape of one example. An op takes the wrappers of the innermost level off, does that transform's work, and goes on
// with the tensors inside, at the next level. At level 0 the tensors are plain ones. A wrapper has no memory: the keys
// Front, Autograd and Back keep kernels away from it, and what reads memory without an op asks for `is_wrapper` first.
struct TORCH_API TensorWrapper final : public TensorImpl {
  // `bdim`: the dimension of `value` that vmap hides; none for another transform, and for what is the same for all
  // examples. `is_alive` turns false when the transform has returned.
  TensorWrapper(Tensor value, int64_t level, std::optional<int64_t> bdim, std::shared_ptr<const bool> is_alive);

  intrusive_ptr<TensorImpl> shallow_copy_and_detach(bool allow_version_sharing) override;
  // Takes the geometry from the value, after an op changed that.
  void refresh_metadata();

  Tensor value_;
  int64_t level_;
  std::optional<int64_t> bdim_;
  std::shared_ptr<const bool> is_alive_;
};

inline bool is_wrapper(const Tensor& t) {
  return t.key_set().has(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}
// Null for a plain tensor, and for what a kernel made of a wrapper as if it were one.
inline TensorWrapper* maybe_get_wrapper(const Tensor& t) {
  return t.defined() && is_wrapper(t) ? dynamic_cast<TensorWrapper*>(t.unsafeGetTensorImpl()) : nullptr;
}

// Whether vmap hides a dimension of it, at whatever level.
TORCH_API bool is_batched(const Tensor& t);
// The tensor in the wrappers of transforms that have returned; any other as it is. RuntimeError for what escaped from
// vmap: nobody knows any more what its hidden dimension was.
TORCH_API Tensor unwrap_dead(Tensor t);
// The plain tensor in all wrappers, for what reads memory. RuntimeError under vmap, that names `what`.
TORCH_API Tensor materialize(Tensor t, const char* what);

// The plain tensor in all wrappers, of whatever batches, for a check that is about each number alone.
TORCH_API Tensor innermost(Tensor t);

} // namespace reftorch::at::functorch
