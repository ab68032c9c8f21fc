// Mirrors: torch/csrc/autograd/variable.cpp
#include <csrc/autograd/variable.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/anomaly_mode.h>
#include <csrc/autograd/cpp_hook.h>
#include <csrc/autograd/functions/accumulate_grad.h>
#include <csrc/autograd/functions/tensor.h>
#include <csrc/autograd/functions/utils.h>

namespace reftorch::torch::autograd {

void AutogradMeta::set_requires_grad(bool requires_grad, at::Tensor& self) {
  TORCH_CHECK(!requires_grad || self.is_floating_point(),
              "Only Tensors of floating point and complex dtype can require gradients, but got ",
              c10::dtypeName(self.scalar_type()));
  TORCH_CHECK(!requires_grad || !self.is_inference() || c10::InferenceMode::is_enabled(),
              "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  requires_grad_ = requires_grad;
}

DifferentiableViewMeta::DifferentiableViewMeta(const Variable& self, Variable base, CreationMeta creation_meta)
    : base_(std::move(base)), creation_meta_(creation_meta) {
  is_view_ = true;
  c10::VariableVersion& counter = base_.unsafeGetTensorImpl()->version_counter_;
  self.unsafeGetTensorImpl()->version_counter_.share_with(counter);
  attr_version_ = counter.current_version();
}

Variable as_view(const Variable& base, Variable tensor, CreationMeta creation_meta) {
  if (tensor.is_same(base)) {
    tensor = impl::tensor_data(base);
  }
  const DifferentiableViewMeta* base_view = impl::get_view_autograd_meta(base);
  if (base_view != nullptr && creation_meta == CreationMeta::DEFAULT) {
    creation_meta = base_view->creation_meta_; // a view of a view that must not be changed must not be changed either
  }
  tensor.unsafeGetTensorImpl()->autograd_meta_ =
      std::make_unique<DifferentiableViewMeta>(tensor, base_view != nullptr ? base_view->base_ : base, creation_meta);
  return tensor;
}

namespace impl {

AutogradMeta* materialize_autograd_meta(const Variable& self) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  const auto make = [] { return std::make_unique<AutogradMeta>(); };
  if (impl->autograd_meta_ == nullptr && self.use_count() == 1 && impl->pyobj() == nullptr) {
    impl->autograd_meta_ = make(); // no other thread can reach the tensor: it is the fresh result of an op
    return static_cast<AutogradMeta*>(impl->autograd_meta_.get());
  }
  return static_cast<AutogradMeta*>(impl->autograd_meta_.get_or_make(make));
}

// Moves the hook of retain_grad to the new grad_fn of a tensor that was changed in place. Other hooks belong to the
// former value of the tensor and stay at the former grad_fn; retain_grad belongs to the tensor, whatever its value.
static void move_retains_grad_hook(AutogradMeta& meta, Node& old_fn, uint32_t old_output_nr) {
  if (meta.retained_grad_ != nullptr && old_fn.pop_retains_grad_hook(old_output_nr) != nullptr) {
    meta.grad_fn_->add_retains_grad_hook(std::make_unique<RetainGradHook>(meta.retained_grad_, meta.output_nr_),
                                         meta.output_nr_);
  }
}

// Makes the view again from its base and records this. If the view was changed by an op such as t_ or resize_, calling
// its view ops again would give another geometry; then as_strided is recorded.
static Variable view_again(const Variable& self, const DifferentiableViewMeta& meta) {
  if (meta.view_fn_ != nullptr) {
    const Variable again = meta.view_fn_(meta.base_);
    if (again.sizes() == self.sizes() && again.strides() == self.strides() &&
        again.storage_offset() == self.storage_offset()) {
      return again;
    }
  }
  const auto as_strided = [&](const Variable& base) {
    return at::as_strided(base, self.sizes(), self.strides(), self.storage_offset());
  };
  const bool has_history = meta.base_.requires_grad();
  if (has_history && meta.base_.is_alias_of(self)) {
    return as_strided(meta.base_);
  }
  // as_strided cannot be called on the base: set_ has given the base other memory, which may be too small for the view,
  // or detach_ has cut the base off. The op is recorded on a tensor with the geometry of the base and the memory of the
  // view, and its node then gets the edge of the base. The view keeps a history, as in PyTorch, but the history of a
  // base that was cut off leads nowhere.
  Variable stand_in = impl::tensor_data(meta.base_);
  stand_in.unsafeGetTensorImpl()->storage_ = self.unsafeGetTensorImpl()->storage_;
  impl::materialize_autograd_meta(stand_in)->set_requires_grad(true, stand_in);
  Variable again = as_strided(stand_in);
  impl::get_autograd_meta(again)->grad_fn_->set_next_edge(0, has_history ? gradient_edge(meta.base_) : Edge());
  return again;
}

// See Note [View + Inplace update].
static std::shared_ptr<Node> view_grad_fn(const Variable& self, DifferentiableViewMeta& meta) {
  const uint32_t current = version(self);
  {
    std::lock_guard<c10::Mutex> lock(meta.mutex_);
    if (meta.grad_fn_ == nullptr && !meta.base_.requires_grad()) {
      return nullptr;
    }
    if (meta.attr_version_ == current) {
      return meta.grad_fn_;
    }
  }
  check_view_inplace(self, /*indirect=*/true);
  // Record without the lock, because making a node may need the GIL. If another thread was quicker, its node is used.
  c10::AutoGradMode record(true);
  const Variable fresh = view_again(self, meta);
  std::lock_guard<c10::Mutex> lock(meta.mutex_);
  if (meta.attr_version_ != current) {
    const std::shared_ptr<Node> old_fn = std::move(meta.grad_fn_);
    const uint32_t old_output_nr = meta.output_nr_;
    meta.grad_fn_ = get_autograd_meta(fresh)->grad_fn_;
    meta.output_nr_ = output_nr(fresh);
    meta.attr_version_ = current;
    if (old_fn != nullptr && meta.grad_fn_ != nullptr) {
      move_retains_grad_hook(meta, *old_fn, old_output_nr);
    }
  }
  return meta.grad_fn_;
}

std::shared_ptr<Node> grad_fn(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return nullptr;
  }
  return meta->is_view_ ? view_grad_fn(self, static_cast<DifferentiableViewMeta&>(*meta)) : meta->grad_fn_;
}

std::shared_ptr<Node> try_get_grad_accumulator(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return nullptr;
  }
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  return meta->grad_accumulator_.lock();
}

void reset_grad_accumulator(const Variable& self) {
  if (AutogradMeta* meta = get_autograd_meta(self)) {
    std::lock_guard<c10::Mutex> lock(meta->mutex_);
    meta->grad_accumulator_.reset();
  }
}

std::shared_ptr<Node> grad_accumulator(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr || !meta->requires_grad_) {
    return nullptr;
  }
  TORCH_INTERNAL_ASSERT(meta->grad_fn_ == nullptr, "grad_accumulator() is for leaf tensors");
  // Two things may need the GIL and are done without the lock: copying the leaf, and making a node in anomaly mode,
  // which records where in the program the node is made.
  Variable leaf = self;
  const auto make = [&] { return c10::make_shared_small<AccumulateGrad>(std::move(leaf)); };
  std::shared_ptr<Node> fresh;
  if (__builtin_expect(AnomalyMode::is_enabled(), 0)) {
    fresh = make();
  }
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  std::shared_ptr<Node> node = meta->grad_accumulator_.lock();
  if (node == nullptr) {
    node = fresh != nullptr ? std::move(fresh) : make();
    meta->grad_accumulator_ = node;
  }
  return node;
}

at::ScalarType grad_dtype(const Variable& self) {
  const AutogradMeta* meta = get_autograd_meta(self);
  if (meta != nullptr && meta->any_grad_dtype_) {
    return at::ScalarType::Undefined;
  }
  return meta != nullptr && meta->grad_dtype_ != at::ScalarType::Undefined ? meta->grad_dtype_ : self.scalar_type();
}

void set_grad_dtype(const Variable& self, at::ScalarType dtype) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  meta->any_grad_dtype_ = dtype == at::ScalarType::Undefined;
  meta->grad_dtype_ = dtype;
  if (const std::shared_ptr<Node> accumulator = try_get_grad_accumulator(self)) {
    accumulator->set_input_grad_dtype(0, dtype);
  }
}

Edge gradient_edge(const Variable& self) {
  if (std::shared_ptr<Node> fn = grad_fn(self)) {
    return Edge(std::move(fn), output_nr(self));
  }
  return Edge(grad_accumulator(self), 0);
}

void set_gradient_edge(const Variable& self, Edge edge) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  const std::shared_ptr<Node> old_fn = std::move(meta->grad_fn_);
  const uint32_t old_output_nr = meta->output_nr_;
  meta->grad_fn_ = std::move(edge.function);
  meta->output_nr_ = edge.input_nr;
  if (meta->is_view_) {
    static_cast<DifferentiableViewMeta*>(meta)->attr_version_ = version(self);
  }
  if (old_fn != nullptr && meta->grad_fn_ != nullptr) {
    move_retains_grad_hook(*meta, *old_fn, old_output_nr);
  }
}

void rebase_history(const Variable& self, Edge edge) {
  DifferentiableViewMeta* view = get_view_autograd_meta(self);
  if (view == nullptr) {
    set_gradient_edge(self, std::move(edge));
    return;
  }
  TORCH_INTERNAL_ASSERT(edge.input_nr == 0 && edge.function->num_inputs() == 1,
                        "functions which modify views in-place must return a "
                        "single tensor");
  check_view_inplace(self);
  auto copy_slices = std::make_shared<CopySlices>(view->base_, self, std::move(edge.function));
  set_gradient_edge(view->base_, Edge(std::move(copy_slices), 0));
  // Somebody may have asked for the view's grad_fn since the change, which updated the view with the former history of
  // the base. So mark the view as out of date.
  view->attr_version_ = version(self) - 1;
  grad_fn(self);
}

void add_hook(const Variable& self, std::unique_ptr<FunctionPreHook> hook) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  meta->hooks_.push_back(std::move(hook));
}

void clear_hooks(const Variable& self) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  HookList dropped; // destroyed after the lock is released
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  dropped.swap(meta->hooks_);
}

Variable get_grad(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return Variable();
  }
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  return meta->grad();
}

void set_grad(const Variable& self, Variable grad) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  std::swap(meta->mutable_grad(), grad); // the former gradient is destroyed with the parameter, after the unlock
}

std::shared_ptr<PostAccumulateGradHook> post_acc_grad_hooks(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return nullptr;
  }
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  return meta->post_acc_grad_hooks_;
}

void set_post_acc_grad_hooks(const Variable& self, std::shared_ptr<PostAccumulateGradHook> hooks) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  std::lock_guard<c10::Mutex> lock(meta->mutex_);
  std::swap(meta->post_acc_grad_hooks_, hooks); // the former hooks are destroyed with the parameter, after the unlock
}

void visit_owned(const Variable& self, OwnedVisitor& visitor) {
  const AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return;
  }
  if (meta->grad_fn_ != nullptr) {
    visitor.node(meta->grad_fn_);
  }
  if (meta->grad_.defined()) {
    visitor.variable(meta->grad_);
  }
  if (meta->retained_grad_ != nullptr && meta->retained_grad_->defined()) {
    visitor.variable(*meta->retained_grad_);
  }
  if (meta->is_view_) {
    visitor.variable(static_cast<const DifferentiableViewMeta*>(meta)->base_);
  }
  for (const auto& hook : meta->hooks_) {
    hook->visit_owned(visitor);
  }
  if (meta->post_acc_grad_hooks_ != nullptr) {
    meta->post_acc_grad_hooks_->visit_owned(visitor);
  }
}

void clear_owned(const Variable& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return;
  }
  // Move everything out first, because the destructors may look at this tensor.
  const std::shared_ptr<Node> grad_fn = std::move(meta->grad_fn_);
  const Variable grad = std::move(meta->grad_);
  const std::shared_ptr<Variable> retained_grad = std::move(meta->retained_grad_);
  const auto hooks = std::move(meta->hooks_);
  const auto post_acc_grad_hooks = std::move(meta->post_acc_grad_hooks_);
  meta->output_nr_ = 0;
}

void retain_grad(const Variable& self) {
  TORCH_CHECK(self.requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  const std::shared_ptr<Node> fn = grad_fn(self);
  AutogradMeta* meta = get_autograd_meta(self);
  if (fn == nullptr || meta->retained_grad_ != nullptr) {
    return; // a leaf keeps its gradient in any case
  }
  meta->retained_grad_ = std::make_shared<Variable>(std::move(meta->grad_));
  fn->add_retains_grad_hook(std::make_unique<RetainGradHook>(meta->retained_grad_, meta->output_nr_), meta->output_nr_);
}

bool retains_grad(const Variable& self) {
  const AutogradMeta* meta = get_autograd_meta(self);
  return meta != nullptr && meta->retained_grad_ != nullptr && meta->grad_fn_ != nullptr;
}

} // namespace impl
} // namespace reftorch::torch::autograd
