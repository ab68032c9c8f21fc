// Mirrors: nothing in PyTorch: see python_traverse.h
#include <csrc/autograd/python_traverse.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_function.h>

#include <cstring>

namespace reftorch::torch::autograd {

static bool in_full_collection = false;

static PyObject* on_collection(PyObject* /*self*/, PyObject* args) {
  const char* phase = nullptr;
  PyObject* info = nullptr;
  if (!PyArg_ParseTuple(args, "sO!", &phase, &PyDict_Type, &info)) {
    return nullptr;
  }
  PyObject* generation = PyDict_GetItemString(info, "generation"); // borrowed
  const bool is_full = generation != nullptr && PyLong_AsLong(generation) == 2;
  in_full_collection = is_full && std::strcmp(phase, "start") == 0;
  if (in_full_collection) {
    pin_contexts();
  } else if (is_full) {
    unpin_contexts();
  }
  Py_RETURN_NONE;
}

void init_traversal() {
  static PyMethodDef callback = {"_on_collection", on_collection, METH_VARARGS, nullptr};
  PyObject* function = PyCFunction_New(&callback, nullptr);
  PyObject* gc = PyImport_ImportModule("gc");
  PyObject* callbacks = gc == nullptr ? nullptr : PyObject_GetAttrString(gc, "callbacks");
  const bool added = function != nullptr && callbacks != nullptr && PyList_Append(callbacks, function) == 0;
  Py_XDECREF(callbacks);
  Py_XDECREF(gc);
  Py_XDECREF(function);
  if (!added) {
    throw_python_error();
  }
}

bool GraphTraversal::found_all_owners(const void* object, size_t owners) {
  return owners == 1 || ++found_[object] == owners;
}

void GraphTraversal::node(const std::shared_ptr<Node>& owned) {
  const auto* with_context = in_full_collection ? dynamic_cast<const PyNode*>(owned.get()) : nullptr;
  const bool is_pinned = with_context != nullptr && with_context->is_pinned;
  const auto owners = static_cast<size_t>(owned.use_count()) - (is_pinned ? 1 : 0); // the context is not met here
  if (found_all_owners(owned.get(), owners)) {
    if (is_pinned) {
      py_object(with_context->obj); // which shows what the node owns
    } else {
      nodes_.push_back(owned.get());
    }
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
  while (in_full_collection && result_ == 0 && !(nodes_.empty() && variables_.empty())) {
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
