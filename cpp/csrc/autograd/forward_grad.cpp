// Mirrors: torch/csrc/autograd/forward_grad.cpp, torch/csrc/autograd/autograd_meta.cpp
#include <csrc/autograd/forward_grad.h>

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

namespace reftorch::torch::autograd {

std::vector<Variable> (*jvp_hook)(const at::OperatorHandle& op, const std::vector<at::IValue>& primals,
                                  const std::vector<at::IValue>& tangents,
                                  const std::vector<at::IValue>& results) = nullptr;

namespace {

// All tangents of the open level, so that exit_dual_level can remove them. A level belongs to the process and not to a
// thread. The mutex guards every tangent too, because one thread may leave the level, or make the tangent of a view,
// while another thread reads the tangent.
struct ForwardADLevel {
  c10::Mutex mutex;
  bool is_open = false;
  std::vector<std::weak_ptr<ForwardGrad>> grads;
};

ForwardADLevel& the_level() {
  static auto* level = new ForwardADLevel; // never destroyed: tensors may die later than static objects
  return *level;
}

void store_fw_grad(const Variable& self, Variable tangent) {
  auto grad = std::make_shared<ForwardGrad>();
  grad->tangent = std::move(tangent);
  AutogradMeta* meta = impl::materialize_autograd_meta(self);
  ForwardADLevel& level = the_level();
  std::lock_guard<c10::Mutex> lock(level.mutex);
  level.grads.push_back(grad);
  std::swap(meta->fw_grad_, grad); // the former tangent is destroyed after the lock is released
}

Variable own_fw_grad(const Variable& self) {
  const AutogradMeta* meta = impl::get_autograd_meta(self);
  if (meta == nullptr) {
    return Variable();
  }
  std::lock_guard<c10::Mutex> lock(the_level().mutex);
  return meta->fw_grad_ != nullptr ? meta->fw_grad_->tangent : Variable();
}

// Returns the view of the base's tangent that corresponds to the view `self` of the base.
Variable tangent_of_view(const Variable& self, const Variable& base, const Variable& base_tangent) {
  return at::as_strided(base_tangent, self.sizes(), self.strides(),
                        base_tangent.storage_offset() + self.storage_offset() - base.storage_offset());
}

// Copies the tangent into new memory with the strides of `self`, so that a view of `self` corresponds to a view of the
// tangent with the same strides.
Variable in_layout_of(const Variable& self, const Variable& tangent) {
  Variable copy = at::new_empty_strided(tangent, self.sizes(), self.strides());
  return at::copy_(copy, tangent);
}

} // namespace

void enter_dual_level() {
  ForwardADLevel& level = the_level();
  std::lock_guard<c10::Mutex> lock(level.mutex);
  TORCH_CHECK(!level.is_open, "Nested forward mode AD is not supported at the moment");
  level.is_open = true;
  c10::ForwardAD::add_level(1);
}

void exit_dual_level() {
  ForwardADLevel& level = the_level();
  std::vector<Variable> dropped; // destroyed after the lock is released
  std::lock_guard<c10::Mutex> lock(level.mutex);
  TORCH_CHECK(level.is_open,
              "Trying to exit a forward AD level that was not the last one that was created. This is not "
              "supported.");
  for (const std::weak_ptr<ForwardGrad>& weak : level.grads) {
    if (const std::shared_ptr<ForwardGrad> grad = weak.lock()) {
      dropped.push_back(std::move(grad->tangent));
    }
  }
  level.grads.clear();
  level.is_open = false;
  c10::ForwardAD::add_level(-1);
}

Variable fw_grad(const Variable& self) {
  const Variable own = own_fw_grad(self);
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(self);
  if (own.defined() || view == nullptr) {
    return own;
  }
  const Variable base_tangent = own_fw_grad(view->base_);
  if (!base_tangent.defined()) {
    return own;
  }
  Variable tangent = tangent_of_view(self, view->base_, base_tangent);
  store_fw_grad(self, tangent);
  return tangent;
}

void set_fw_grad(const Variable& self, Variable tangent) {
  TORCH_CHECK(
      tangent.sizes() == self.sizes(),
      "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
      "supported. Tensor is of size ",
      self.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  TORCH_CHECK(tangent.scalar_type() == self.scalar_type(),
              "Trying to set a forward gradient that has a different dtype than that of the original Tensor: it is ",
              tangent.scalar_type(), ", and the Tensor is ", self.scalar_type(), ".");
  store_fw_grad(self, std::move(tangent));
}

Variable fw_primal(const Variable& self) {
  Variable primal = impl::tensor_data(self);
  if (self.requires_grad()) {
    impl::set_gradient_edge(primal, impl::gradient_edge(self));
  }
  return primal;
}

void copy_fw_grad(const Variable& from, const Variable& to) {
  const AutogradMeta* meta = impl::get_autograd_meta(from);
  if (own_fw_grad(from).defined()) {
    AutogradMeta* target = impl::materialize_autograd_meta(to);
    std::lock_guard<c10::Mutex> lock(the_level().mutex);
    target->fw_grad_ = meta->fw_grad_;
  }
}

bool any_fw_grad(const OperatorInfo& info, const at::IValue* args) {
  auto has = [](const Variable& t) { return t.defined() && fw_grad(t).defined(); };
  for (uint8_t i : info.tensor_args) {
    if (args[i].isTensor() && has(args[i].toTensor())) {
      return true;
    }
    if (args[i].isTensorList()) {
      const std::vector<Variable>& list = args[i].toTensorVector();
      if (std::any_of(list.begin(), list.end(), has)) {
        return true;
      }
    }
  }
  return false;
}

DualCall::DualCall(const at::OperatorHandle& op, const OperatorInfo& info, const at::IValue* args)
    : op_(op), info_(info), primals_(args, args + info.num_arguments), tangents_(info.num_arguments) {
  TORCH_CHECK(info.kind != OperatorInfo::Kind::Out, op.schema().name,
              "(): Trying to use forward AD with an op that does not support it because it is an out= function: "
              "functions with out=... arguments don't support automatic differentiation, but one of the arguments "
              "has a tangent.");
  for (uint8_t i : info.tensor_args) {
    if (args[i].isTensor()) {
      tangents_[i] = fw_grad(args[i].toTensor());
      primals_[i] = fw_primal(args[i].toTensor());
    } else if (args[i].isTensorList()) {
      std::vector<Variable> primals = args[i].toTensorVector(), tangents(primals.size());
      for (size_t k = 0; k < primals.size(); k++) {
        if (primals[k].defined()) {
          tangents[k] = fw_grad(primals[k]);
          primals[k] = fw_primal(primals[k]);
        }
      }
      primals_[i] = std::move(primals);
      tangents_[i] = std::move(tangents);
    }
  }
  for (uint8_t i : info.written_args) { // the op is about to change this argument
    TORCH_CHECK_NOT_IMPLEMENTED(args[i].isTensor(), "Trying to use forward AD with ", op.schema().name,
                                " that does not support it because it changes lists of tensors in place.");
    primals_[i] = at::clone(primals_[i].toTensor());
    if (tangents_[i].isTensor()) {
      tangents_[i] = at::clone(tangents_[i].toTensor());
    }
  }
}

// Returns whether a view covers all of its base, in the base's own order.
static bool is_whole(const Variable& view, const Variable& base) {
  return view.sizes() == base.sizes() && view.strides() == base.strides() &&
         view.storage_offset() == base.storage_offset();
}

// Sets the tangent of a tensor that the op has changed in place. Other tensors may share its memory, and their tangents
// share the memory of its tangent, so an existing tangent is overwritten in place too.
void DualCall::set_written(const Variable& written, const Variable& tangent) const {
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(written);
  Variable former = fw_grad(written);
  if (former.defined() && former.sizes() == written.sizes()) {
    if (tangent.defined()) {
      at::copy_(former, tangent);
    } else {
      at::zero_(former);
    }
  } else if (tangent.defined() && view != nullptr && !is_whole(written, view->base_)) {
    // Make the zeros from the tangent: under vmap the tangent may be a batch where the primal is not one.
    Variable zeros = at::new_empty_strided(tangent, view->base_.sizes(), view->base_.strides());
    set_fw_grad(view->base_, at::zero_(zeros));
    Variable part = fw_grad(written);
    at::copy_(part, tangent);
  } else if (tangent.defined()) {
    const Variable own = in_layout_of(written, tangent);
    set_fw_grad(written, own);
    if (view != nullptr) {
      set_fw_grad(view->base_, own);
    }
  }
}

// Returns whether the tangent has memory of its own, in the layout of the result. The tangent of an argument, for
// example, may be returned as the tangent of the result and does not qualify.
bool DualCall::is_new(const Variable& result, const Variable& tangent) const {
  if (tangent.strides() != result.strides() || impl::is_view(tangent)) {
    return false;
  }
  for (const at::IValue& given : tangents_) {
    if (given.isTensorList() || (given.isTensor() && given.toTensor().is_same(tangent))) {
      return false;
    }
  }
  return true;
}

void DualCall::set_tangents(const at::IValue* results, size_t num_results) {
  if (info_.non_differentiable && info_.written_args.empty()) {
    return;
  }
  std::vector<at::IValue> primal_results;
  std::vector<Variable> flat; // the tensors among the results
  for (size_t r = 0; r < num_results; r++) {
    if (results[r].isTensor()) {
      flat.push_back(results[r].toTensor());
      primal_results.emplace_back(fw_primal(flat.back()));
    } else if (results[r].isTensorList()) {
      std::vector<Variable> list = results[r].toTensorVector();
      for (Variable& t : list) {
        flat.push_back(t);
        t = fw_primal(t);
      }
      primal_results.emplace_back(std::move(list));
    } else {
      primal_results.push_back(results[r]);
    }
  }
  std::vector<Variable> tangents(flat.size());
  if (!info_.non_differentiable) {
    tangents = jvp_hook(op_, primals_, tangents_, primal_results);
  }
  for (size_t i = 0; i < flat.size(); i++) {
    if (!info_.written_args.empty()) {
      set_written(flat[i], tangents[i]);
    } else if (tangents[i].defined() && flat[i].is_floating_point()) {
      const bool as_it_is = info_.kind == OperatorInfo::Kind::View || is_new(flat[i], tangents[i]);
      set_fw_grad(flat[i], as_it_is ? tangents[i] : in_layout_of(flat[i], tangents[i]));
    }
  }
}

} // namespace reftorch::torch::autograd
