// Mirrors: torch/csrc/autograd/variable.h
//
// A tensor's place in the graph. A Variable is a Tensor; the word says that the graph matters where it is used. A
// tensor that no graph has recorded has no AutogradMeta at all, and reads as a leaf that wants no gradient.
// Left out: names, several forward levels at once.
#pragma once

#include <csrc/autograd/function.h>

#include <functional>

namespace reftorch::torch::autograd {

struct ForwardGrad;

struct TORCH_API AutogradMeta : public c10::AutogradMetaInterface {
  // RuntimeError for a dtype that has no gradient.
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
  // A leaf's AccumulateGrad. Weak, because that node owns the leaf.
  std::weak_ptr<Node> grad_accumulator_;
  // Where retain_grad's hook stores: the hook must not own the tensor, so the two share this slot.
  std::shared_ptr<Variable> retained_grad_;
  // A leaf's tensor hooks, and those of any tensor since its last change in place; the grad_fn has hooks of its own.
  HookList hooks_;
  std::shared_ptr<PostAccumulateGradHook> post_acc_grad_hooks_;
  // Guards what one thread may read while another one makes or replaces it: grad_accumulator_, a view's grad_fn_,
  // both kinds of hooks, and grad_ during a backward pass. A thread that holds it never waits for the GIL.
  c10::Mutex mutex_;
  uint32_t output_nr_ = 0;     // which output of grad_fn_ this tensor is
  bool requires_grad_ = false; // of a leaf
  bool any_grad_dtype_ = false;
  at::ScalarType grad_dtype_ = at::ScalarType::Undefined; // where it is not the tensor's own
  bool is_view_ = false;                                  // then this is a DifferentiableViewMeta
};

// How a view came to be, where that forbids changing it in place while gradients are recorded.
enum class CreationMeta : uint8_t {
  DEFAULT,
  IN_CUSTOM_FUNCTION, // made inside an autograd.Function
  MULTI_OUTPUT_NODE,  // one of several views from one op
  NO_GRAD_MODE,
  INFERENCE_MODE,
};

// Note [View + Inplace update]
// Problem: `v = x[0]; v.mul_(2)` changes x too, so x's history must change; and after `x.mul_(2)` the history of v is
// stale. Trick: a view remembers its base (never another view). An in-place op on the view makes a CopySlices node that
// becomes the *base's* grad_fn. The view remembers the version at which its own grad_fn was made; when a later reader
// finds another version, it makes a new one, an as_strided of the base as it is then, or, where the view was made under
// view replay, by calling the view ops again, so that the graph shows those. Base and all views share one version
// counter, so nothing is missed.
struct TORCH_API DifferentiableViewMeta final : public AutogradMeta {
  DifferentiableViewMeta(const Variable& self, Variable base, CreationMeta creation_meta);

  bool requires_grad() const override {
    return AutogradMeta::requires_grad() || base_.requires_grad();
  }

  Variable base_;
  // Makes the view anew of a base; empty where the strides say how.
  std::function<Variable(const Variable& base)> view_fn_;
  uint32_t attr_version_; // the version for which grad_fn_ holds
  CreationMeta creation_meta_;
};

// Called with a tensor that is about to be changed in place, on the thread that set it; null where nobody asks.
inline thread_local void (*before_write_hook)(const Variable& tensor) = nullptr;

namespace impl {

// Null where there is none.
inline AutogradMeta* get_autograd_meta(const Variable& self) {
  return static_cast<AutogradMeta*>(self.unsafeGetTensorImpl()->autograd_meta_.get());
}
TORCH_API AutogradMeta* materialize_autograd_meta(const Variable& self);
inline DifferentiableViewMeta* get_view_autograd_meta(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  return meta != nullptr && meta->is_view_ ? static_cast<DifferentiableViewMeta*>(meta) : nullptr;
}

// The node that made the tensor; for a view that is out of date, after bringing it up to date. Null for a leaf.
TORCH_API std::shared_ptr<Node> grad_fn(const Variable& self);
// A leaf's AccumulateGrad, made when first asked for. Null where no gradient is wanted. RuntimeError for an inner
// tensor.
TORCH_API std::shared_ptr<Node> grad_accumulator(const Variable& self);
// The accumulator if it exists.
TORCH_API std::shared_ptr<Node> try_get_grad_accumulator(const Variable& self);
// Graphs that lead to it keep it; those recorded from here on lead to another.
TORCH_API void reset_grad_accumulator(const Variable& self);
// Where a gradient for `self` goes: its grad_fn, or its accumulator.
TORCH_API Edge gradient_edge(const Variable& self);
// The dtype that .grad is to have; Undefined where any will do.
TORCH_API at::ScalarType grad_dtype(const Variable& self);
TORCH_API void set_grad_dtype(const Variable& self, at::ScalarType dtype);
// Makes `self` output edge.input_nr of edge.function.
TORCH_API void set_gradient_edge(const Variable& self, Edge edge);
// The same after an in-place op: for a view, the base's history is rewritten.
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
// An inference tensor has none; it reads as 0.
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
// Shows what the tensor owns as a part of the graph: its history, its hooks, its gradient, its base.
TORCH_API void visit_owned(const Variable& self, OwnedVisitor& visitor);
// Gives all that up; the caller holds the GIL and no lock.
TORCH_API void clear_owned(const Variable& self);
// `.grad`, and a new one in its place, also while a backward pass of another thread replaces it.
TORCH_API Variable get_grad(const Variable& self);
TORCH_API void set_grad(const Variable& self, Variable grad);
// Null where there are none.
TORCH_API std::shared_ptr<PostAccumulateGradHook> post_acc_grad_hooks(const Variable& self);
TORCH_API void set_post_acc_grad_hooks(const Variable& self, std::shared_ptr<PostAccumulateGradHook> hooks);
// Keeps the gradient of an inner tensor in .grad. RuntimeError where it requires none; nothing to do for a leaf.
TORCH_API void retain_grad(const Variable& self);
TORCH_API bool retains_grad(const Variable& self);

// Another tensor of the same storage and version, without history. `detach()` and saved outputs.
inline Variable tensor_data(const Variable& self) {
  return Variable(self.unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/true));
}
// The same with a version of its own: `.data`.
inline Variable variable_data(const Variable& self) {
  return Variable(self.unsafeGetTensorImpl()->shallow_copy_and_detach(/*allow_version_sharing=*/false));
}

} // namespace impl

// Gives `tensor`, fresh from a view op on `base`, its view metadata. If it is `base` itself, a new tensor is returned.
TORCH_API Variable as_view(const Variable& base, Variable tensor, CreationMeta creation_meta);

// "torch.FloatTensor": how errors name a tensor's kind.
std::string type_string(const Variable& self);

} // namespace reftorch::torch::autograd
