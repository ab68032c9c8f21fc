// Mirrors: torch/csrc/autograd/functions/accumulate_grad.cpp, torch/csrc/autograd/utils/grad_layout_contract.h
#include <csrc/autograd/functions/accumulate_grad.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <c10/core/GradMode.h>

#include <limits>

namespace reftorch::torch::autograd {

AccumulateGrad::AccumulateGrad(Variable leaf) : Node(std::numeric_limits<uint64_t>::max()), variable(std::move(leaf)) {
  add_input_metadata(variable);
  set_input_grad_dtype(0, impl::grad_dtype(variable));
}

// Another owner of the leaf can reach this node through the leaf. So the node shows its own hooks only if the walk has
// met all owners of the leaf.
void AccumulateGrad::visit_owned(OwnedVisitor& visitor) const {
  if (visitor.variable(variable)) {
    Node::visit_owned(visitor);
  }
}

void AccumulateGrad::call_tensor_pre_hooks(variable_list& grads) {
  AutogradMeta& meta = *impl::get_autograd_meta(variable);
  for_each_hook(meta.mutex_, meta.hooks_, [&](const auto& hook) { grads = (*hook)(grads); });
  Node::call_tensor_pre_hooks(grads);
}

// Returns whether the gradient has the layout that optimizers expect, because they walk a parameter and its gradient
// side by side: the parameter's strides if the parameter is dense, contiguous otherwise.
static bool obeys_layout_contract(const Variable& grad, const Variable& variable) {
  return variable.unsafeGetTensorImpl()->is_non_overlapping_and_dense() ? grad.strides() == variable.strides()
                                                                        : grad.is_contiguous();
}

static Variable clone_obey_contract(const Variable& grad, const Variable& variable) {
  if (at::functorch::is_wrapper(grad)) {
    return at::clone(grad);
  }
  if (!variable.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    return at::clone(grad, at::MemoryFormat::Contiguous);
  }
  // Make the copy by an op here, so that a mode or the gradient's class sees where the new tensor comes from.
  Variable copy =
      at::isTensorSubclassLike(grad)
          ? at::new_empty_strided(grad, variable.sizes(), variable.strides())
          : at::detail::empty_strided_generic(variable.sizes(), variable.strides(), grad.scalar_type(), grad.device());
  return at::copy_(copy, grad);
}

bool (*impl::has_unique_reference)(PyObject* obj) = nullptr;

bool impl::is_tensor_stealable(const Variable& tensor, size_t owners) {
  const size_t count = tensor.use_count();
  if (count <= owners) {
    return true;
  }
  PyObject* obj = tensor.unsafeGetTensorImpl()->pyobj();
  return count == owners + 1 && obj != nullptr && has_unique_reference(obj);
}

// Note [Stealing a gradient]
// Problem: the first gradient of a leaf could become its .grad without a copy. But later passes add to .grad in place,
// and every other user of that tensor or of its storage would see the sum. Trick: take the gradient only if this node
// is its only owner. A view shares its storage with its base, which the metadata of the view keeps alive; this one
// additional owner of the storage is allowed if nobody else holds the base. A wrapper subclass without memory has an
// empty storage of its own, so only the owners of the tensor count; its class answers detach, and so decides what the
// result shares.
static bool can_steal(const Variable& grad, const Variable& variable, size_t owners) {
  if (c10::GradMode::is_enabled() || at::functorch::is_wrapper(grad) || !impl::is_tensor_stealable(grad, owners) ||
      !obeys_layout_contract(grad, variable)) {
    return false;
  }
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(grad);
  const bool base_is_ours = view != nullptr && impl::is_tensor_stealable(view->base_);
  return grad.storage().use_count() <= (base_is_ours ? 2u : 1u);
}

// Returns a tensor on the memory of a gradient that may be stolen, without a history and without a Python object. A
// mode or the gradient's class sees a detach.
static Variable steal(Variable& grad) {
  if (at::isTensorSubclassLike(grad)) {
    return at::detach(grad);
  }
  const bool plain = impl::get_autograd_meta(grad) == nullptr && grad.unsafeGetTensorImpl()->pyobj() == nullptr;
  return plain ? std::move(grad) : impl::tensor_data(grad);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  TORCH_INTERNAL_ASSERT(grads.size() == 1, "AccumulateGrad takes one gradient, got ", grads.size());
  Variable& new_grad = grads[0];
  if (!new_grad.defined()) {
    return {};
  }
  TORCH_CHECK(impl::is_leaf(variable), "leaf variable has been moved into the graph interior");
  if (!variable.requires_grad()) {
    return {};
  }
  accumulate(std::move(new_grad));
  // The hooks run without the lock, because a hook may start a pass that reaches this node again.
  if (const auto post_hooks = impl::post_acc_grad_hooks(variable)) {
    (*post_hooks)(variable);
  }
  return {};
}

void AccumulateGrad::accumulate(Variable new_grad) {
  const std::thread::id this_thread = std::this_thread::get_id();
  if (accumulating_.load(std::memory_order_relaxed) == this_thread) {
    accumulate_locked(new_grad); // see Note [Python under the lock of a leaf]
    return;
  }
  // See Note [Locks and the GIL]: two passes may reach a shared leaf at once.
  std::lock_guard<c10::Mutex> lock(mutex_);
  struct Holder {
    Holder(std::atomic<std::thread::id>& holder, std::thread::id thread) : holder_(holder) {
      holder_.store(thread, std::memory_order_relaxed);
    }
    ~Holder() {
      holder_.store(std::thread::id(), std::memory_order_relaxed);
    }
    std::atomic<std::thread::id>& holder_;
  } const holder(accumulating_, this_thread);
  accumulate_locked(new_grad);
}

void AccumulateGrad::accumulate_locked(Variable& new_grad) {
  Variable grad = impl::get_grad(variable);
  if (!grad.defined()) {
    // If there are post hooks, the engine holds a second reference to the gradient in order to show the gradient to
    // them.
    Variable first = can_steal(new_grad, variable, has_post_hooks() ? 2 : 1) ? steal(new_grad)
                                                                             : clone_obey_contract(new_grad, variable);
    grad = impl::get_grad(variable);
    if (!grad.defined()) {
      impl::set_grad(variable, std::move(first));
      return;
    }
    new_grad = std::move(first); // a pass inside the op has set .grad meanwhile
  }
  if (!c10::GradMode::is_enabled()) {
    at::add_(grad, new_grad); // in place, so that every holder of .grad sees the sum
    return;
  }
  for (;;) {
    Variable sum = at::add(grad, new_grad);
    const Variable now = impl::get_grad(variable);
    if (now.is_same(grad) || !now.defined()) {
      impl::set_grad(variable, std::move(sum));
      return;
    }
    grad = now; // a pass inside the op has replaced .grad meanwhile
  }
}

} // namespace reftorch::torch::autograd
