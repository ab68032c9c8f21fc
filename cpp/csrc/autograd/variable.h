// Mirrors: torch/csrc/autograd/variable.h
//
// The place of a tensor in the graph. A Variable is a Tensor; the name says that the graph matters where it is used. A
// tensor that was never recorded and requires no gradient usually has no AutogradMeta, and counts as a leaf.
#pragma once

#include <csrc/autograd/function.h>

#include <functional>

namespace reftorch::torch::autograd {

struct ForwardGrad;

struct TORCH_API AutogradMeta : public c10::AutogradMetaInterface {
  // Throws a RuntimeError for a dtype that has no gradient.
  void set_requires_grad(bool requires_grad, at::Tensor& self) override;
  bool requires_grad() const override {
    return requires_grad_ || grad_fn_ != nullptr;
  }
  Variable& mutable_grad() override {
    return retained_grad_ != nullptr ? *retained_grad_ : grad_;
  }
  const Variable& grad() const override {
    return retained_grad_ != nullptr ? *retained_grad_ : grad_;
  }

  Variable grad_;
  std::shared_ptr<Node> grad_fn_;        // null for a leaf
  std::shared_ptr<ForwardGrad> fw_grad_; // the tangent of a dual number; see forward_grad.h
  // The AccumulateGrad of a leaf. The pointer is weak, because the node owns the leaf.
  std::weak_ptr<Node> grad_accumulator_;
  // The slot in which the hook of retain_grad stores the gradient. The tensor and the hook share the slot, because the
  // hook must not own the tensor.
  std::shared_ptr<Variable> retained_grad_;
  // The tensor hooks. AccumulateGrad calls those of a leaf. For any other tensor the list holds the hooks since its
  // last in-place change; its grad_fn keeps the same hooks in a list of its own and calls them.
  HookList hooks_;
  std::shared_ptr<PostAccumulateGradHook> post_acc_grad_hooks_;
  // Guards the members that one thread may read while another thread makes or replaces them: grad_accumulator_, a
  // view's grad_fn_, both kinds of hooks, and grad_ during a backward pass. A thread that holds the mutex never waits
  // for the GIL.
  c10::Mutex mutex_;
  uint32_t output_nr_ = 0;     // which output of grad_fn_ this tensor is
  bool requires_grad_ = false; // for a leaf: whether it requires a gradient
  bool any_grad_dtype_ = false;
  at::ScalarType grad_dtype_ = at::ScalarType::Undefined; // Undefined stands for the tensor's own dtype
  bool is_view_ = false;                                  // if so, this object is a DifferentiableViewMeta
};

// How a view was made. All values but DEFAULT forbid changing the view in place while gradients are recorded.
enum class CreationMeta : uint8_t {
  DEFAULT,
  IN_CUSTOM_FUNCTION, // made inside an autograd.Function
  MULTI_OUTPUT_NODE,  // one of several views from one op
  NO_GRAD_MODE,
  INFERENCE_MODE,
};

// Note [View + Inplace update]
// Problem: `v = x[0]; v.mul_(2)` changes x too, so the history of x must change. After `x.mul_(2)` the history of v is
// out of date. Trick: a view remembers its base (never another view). An in-place op on the view makes a CopySlices
// node, which becomes the grad_fn of the *base*. The view remembers the version at which its own grad_fn was made. A
// later reader that finds another version makes a new grad_fn: an as_strided of the current base, or, if the view was
// made under view replay, by calling the view ops again, so that the graph shows these ops. The base and all its views
// share one version counter, so no change is missed.
struct TORCH_API DifferentiableViewMeta final : public AutogradMeta {
  DifferentiableViewMeta(const Variable& self, Variable base, CreationMeta creation_meta);

  bool requires_grad() const override {
    return AutogradMeta::requires_grad() || base_.requires_grad();
  }

  Variable base_;
  // Makes the view again from a base; empty if the view is made by as_strided.
  std::function<Variable(const Variable& base)> view_fn_;
  uint32_t attr_version_; // the version at which grad_fn_ was made
  CreationMeta creation_meta_;
};

// Called on this thread with each tensor that is about to be changed in place; null if no hook is set.
inline thread_local void (*before_write_hook)(const Variable& tensor) = nullptr;

namespace impl {

// Null if the tensor has no AutogradMeta.
inline AutogradMeta* get_autograd_meta(const Variable& self) {
  return static_cast<AutogradMeta*>(self.unsafeGetTensorImpl()->autograd_meta_.get());
}
TORCH_API AutogradMeta* materialize_autograd_meta(const Variable& self);
inline DifferentiableViewMeta* get_view_autograd_meta(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  return meta != nullptr && meta->is_view_ ? static_cast<DifferentiableViewMeta*>(meta) : nullptr;
}

// The node that made the tensor; null for a leaf. Updates the grad_fn of a view that is out of date.
TORCH_API std::shared_ptr<Node> grad_fn(const Variable& self);
// The AccumulateGrad of a leaf, made on the first call; null if the leaf requires no gradient. Throws a RuntimeError
// for a tensor that is not a leaf.
TORCH_API std::shared_ptr<Node> grad_accumulator(const Variable& self);
// The accumulator if it exists; null otherwise.
TORCH_API std::shared_ptr<Node> try_get_grad_accumulator(const Variable& self);
// Forgets the accumulator. Graphs that are recorded already keep leading to it; graphs recorded later lead to a new
// one.
TORCH_API void reset_grad_accumulator(const Variable& self);
// The edge along which a gradient for `self` travels: to its grad_fn or to its accumulator.
TORCH_API Edge gradient_edge(const Variable& self);
// The dtype that .grad must have; Undefined if any dtype is allowed.
TORCH_API at::ScalarType grad_dtype(const Variable& self);
TORCH_API void set_grad_dtype(const Variable& self, at::ScalarType dtype);
// Makes `self` output edge.input_nr of edge.function.
TORCH_API void set_gradient_edge(const Variable& self, Edge edge);
// Sets the gradient edge of `self` after an in-place op. For a view, the history of the base is rewritten.
TORCH_API void rebase_history(const Variable& self, Edge edge);

inline bool is_leaf(const Variable& self) {
  return grad_fn(self) == nullptr;
}
inline bool is_view(const Variable& self) {
  return get_view_autograd_meta(self) != nullptr;
}
inline uint32_t output_nr(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  return meta != nullptr ? meta->output_nr_ : 0;
}
// The version of the tensor; 0 for an inference tensor, which has no version counter.
inline uint32_t version(const Variable& self) {
  return self.unsafeGetTensorImpl()->version_counter_.current_version();
}
inline void bump_version(const Variable& self) {
  self.unsafeGetTensorImpl()->bump_version();
}
inline void set_version(const Variable& self, uint32_t version) {
  self.unsafeGetTensorImpl()->version_counter_.set_version(version);
}
TORCH_API void add_hook(const Variable& self, std::unique_ptr<FunctionPreHook> hook);
TORCH_API void clear_hooks(const Variable& self);
// Shows `visitor` what the tensor owns as a part of the graph: its history, its hooks, its gradient, its base.
TORCH_API void visit_owned(const Variable& self, OwnedVisitor& visitor);
// Drops everything that visit_owned shows, except the base. The caller holds the GIL and no lock.
TORCH_API void clear_owned(const Variable& self);
// Reads and replaces `.grad`. Safe while a backward pass of another thread replaces it.
TORCH_API Variable get_grad(const Variable& self);
TORCH_API void set_grad(const Variable& self, Variable grad);
// Null if there are no hooks.
TORCH_API std::shared_ptr<PostAccumulateGradHook> post_acc_grad_hooks(const Variable& self);
TORCH_API void set_post_acc_grad_hooks(const Variable& self, std::shared_ptr<PostAccumulateGradHook> hooks);
// Lets a tensor that is not a leaf keep its gradient in .grad; does nothing for a leaf. Throws a RuntimeError if the
// tensor requires no gradient.
TORCH_API void retain_grad(const Variable& self);
TORCH_API bool retains_grad(const Variable& self);

// Returns a tensor with the same storage and version counter, without history. Used by `detach()` and for saved
// outputs.
inline Variable tensor_data(const Variable& self) {
  return Variable(self.unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/true));
}
// Returns a tensor with the same storage, without history, and with a version counter of its own: `.data`.
inline Variable variable_data(const Variable& self) {
  return Variable(self.unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/false));
}

} // namespace impl

// Gives `tensor`, the result of a view op on `base`, its view metadata. If `tensor` is `base` itself, a new tensor is
// returned.
TORCH_API Variable as_view(const Variable& base, Variable tensor, CreationMeta creation_meta);

} // namespace reftorch::torch::autograd
