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

// Another owner of the leaf can reach this node through the leaf. Then this node's hooks do not belong to the graph
// alone.
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

// Optimizers walk a parameter and its gradient side by side: the same strides where the parameter is dense, else
// contiguous.
static bool obeys_layout_contract(const Variable& grad, const Variable& variable) {
  return variable.unsafeGetTensorImpl()->is_non_overlapping_and_dense() ? grad.strides() == variable.strides()
                                                                        : grad.is_contiguous();
}

static Variable clone_obey_contract(const Variable& grad, const Variable& variable) {
  if (at::isTensorSubclassLike(grad)) {
    return at::clone(grad);
  }
  if (!variable.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    return at::clone(grad, at::MemoryFormat::Contiguous);
  }
  Variable copy =
      at::detail::empty_strided_generic(variable.sizes(), variable.strides(), grad.scalar_type(), grad.device());
  return at::copy_(copy, grad);
}

// Note [Stealing a gradient]
// Problem: the first gradient of a leaf could simply become its .grad, without a copy; but later passes add to .grad in
// place, which would show wherever else that tensor or its storage is in use. Trick: take it only when this node is its
// one owner. A view shares its storage with its base, which its metadata keeps alive; that one more owner is allowed if
// nobody else holds the base.
static bool can_steal(const Variable& grad, const Variable& variable, size_t owners) {
  if (c10::GradMode::is_enabled() || grad.use_count() > owners || !obeys_layout_contract(grad, variable) ||
      at::isTensorSubclassLike(grad)) {
    return false;
  }
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(grad);
  const bool base_is_ours = view != nullptr && view->base_.use_count() == 1;
  return grad.storage().use_count() == (base_is_ours ? 2u : 1u);
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
  accumulate(new_grad);
  // Outside of the lock: a hook may start a pass that comes here again.
  if (const auto post_hooks = impl::post_acc_grad_hooks(variable)) {
    (*post_hooks)(variable);
  }
  return {};
}

void AccumulateGrad::accumulate(Variable& new_grad) {
  // See Note [Locks and the GIL]: two passes may reach a shared leaf at once.
  std::lock_guard<c10::Mutex> lock(mutex_);
  const Variable grad = impl::get_grad(variable);
  if (!grad.defined()) {
    // The engine keeps the gradient too, where post hooks are to see it.
    if (!can_steal(new_grad, variable, has_post_hooks() ? 2 : 1)) {
      impl::set_grad(variable, clone_obey_contract(new_grad, variable));
    } else {
      impl::set_grad(variable,
                     impl::get_autograd_meta(new_grad) == nullptr ? std::move(new_grad) : impl::tensor_data(new_grad));
    }
  } else if (!c10::GradMode::is_enabled()) {
    Variable same = grad;
    at::add_(same, new_grad); // in place: whoever holds .grad sees the sum
  } else {
    impl::set_grad(variable, at::add(grad, new_grad));
  }
}

} // namespace reftorch::torch::autograd
