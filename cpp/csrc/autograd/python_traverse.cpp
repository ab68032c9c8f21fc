// Mirrors: nothing in PyTorch: see python_traverse.h
#include <csrc/autograd/python_traverse.h>

#include <csrc/Exceptions.h>

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
  in_full_collection = generation != nullptr && PyLong_AsLong(generation) == 2 && std::strcmp(phase, "start") == 0;
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
  if (found_all_owners(owned.get(), static_cast<size_t>(owned.use_count()))) {
    nodes_.push_back(owned.get());
  }
}

// The walk cannot meet the reference that the Python object has on its tensor, so that one is subtracted. The walk
// enters the tensor only if C++ alone holds the object, because any other holder of the object can reach the tensor
// too.
bool GraphTraversal::variable(const Variable& owned) {
  PyObject* obj = owned.unsafeGetTensorImpl()->pyobj();
  if (!found_all_owners(owned.unsafeGetTensorImpl(), owned.use_count() - (obj != nullptr ? 1 : 0))) {
    return false;
  }
  if (obj != nullptr) {
    py_object(obj);
    if (Py_REFCNT(obj) != 1) {
      return false;
    }
  }
  variables_.push_back(&owned);
  return true;
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
    impl::visit_owned(variable, *this);
  }
  return result_;
}

} // namespace reftorch::torch::autograd
