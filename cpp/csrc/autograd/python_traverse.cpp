// Mirrors: nothing in PyTorch: see python_traverse.h
#include <csrc/autograd/python_traverse.h>

namespace reftorch::torch::autograd {

bool GraphTraversal::found_all_owners(const void* object, size_t owners) {
  return owners == 1 || ++found_[object] == owners;
}

void GraphTraversal::node(const std::shared_ptr<Node>& owned) {
  if (found_all_owners(owned.get(), static_cast<size_t>(owned.use_count()))) {
    nodes_.push_back(owned.get());
  }
}

// A tensor whose Python object owns it has an owner that is never met here, so it is not entered.
void GraphTraversal::variable(const Variable& owned) {
  if (found_all_owners(owned.unsafeGetTensorImpl(), owned.use_count())) {
    variables_.push_back(&owned);
  }
}

void GraphTraversal::py_object(PyObject* owned) {
  if (result_ == 0) {
    result_ = visit_(owned, arg_);
  }
}

int GraphTraversal::run() {
  while (result_ == 0 && !(nodes_.empty() && variables_.empty())) {
    if (!nodes_.empty()) {
      const Node* node = nodes_.back();
      nodes_.pop_back();
      node->visit_owned(*this);
      continue;
    }
    const Variable& variable = *variables_.back();
    variables_.pop_back();
    const c10::TensorImpl* impl = variable.unsafeGetTensorImpl();
    if (impl->pyobj_ != nullptr && impl->owns_pyobj_) {
      py_object(impl->pyobj_);
    }
    impl::visit_owned(variable, *this);
  }
  return result_;
}

} // namespace reftorch::torch::autograd
