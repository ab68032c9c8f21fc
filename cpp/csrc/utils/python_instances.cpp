// Mirrors: nothing in PyTorch: see python_instances.h
//
// Note [Objects without a value]
// Problem: pybind11 makes an object in two steps. __new__ makes the Python object, and __init__ makes the C++ value. An
// object of `cls.__new__(cls)` has no value, and at its first use pybind11 allocates memory for one without calling a
// constructor, so that every method works on arbitrary bytes. Trick: pybind11 allocates that memory through a function
// pointer of the class, and nothing else uses this pointer. So the pointers of our classes lead to a function that
// raises an error.
//
// A second problem: the base of all these classes, pybind11_object, has no value at all, and its __new__ throws a C++
// exception through the interpreter, which ends the process. pickle calls this __new__ for protocols 0 and 1. The
// __new__ that this file puts in place raises a TypeError before.
//
// A third problem: `cls.method(None)` calls the method of a null pointer if the method was bound as a pointer to a
// member function. So methods are bound as functions that take `self` by reference, for which pybind11 refuses None.
#include <csrc/utils/python_instances.h>

#include <csrc/Exceptions.h>

#include <pybind11/pybind11.h>

#include <string>

namespace py = pybind11;

namespace reftorch::torch {

static void* refuse_to_allocate(size_t) {
  TORCH_CHECK_TYPE(
      false,
      "the object has no value, because its class's __init__() was never called. Hint: call the class, and "
      "not its __new__()");
}

extern "C" {
static PyObject* new_instance(PyTypeObject* type, PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(!py::detail::all_type_info(type).empty(), "cannot create '", type->tp_name, "' instances");
  return py::detail::make_new_instance(type);
  END_HANDLE_TH_ERRORS
}
}

// Replaces the __new__ of a class and of all its subclasses, which have copies of the pointer. Python requires that a
// class and its base agree on it.
static void replace_new(PyTypeObject* type, newfunc former) {
  if (type->tp_new != former) {
    return;
  }
  type->tp_new = new_instance;
  for (py::handle subclass : py::handle(reinterpret_cast<PyObject*>(type)).attr("__subclasses__")()) {
    replace_new(reinterpret_cast<PyTypeObject*>(subclass.ptr()), former);
  }
}

void initInstances(PyObject* module) {
  const std::string prefix = std::string(PyModule_GetName(module)) + ".";
  py::detail::with_internals([&](py::detail::internals& internals) {
    auto* base = reinterpret_cast<PyTypeObject*>(internals.instance_base);
    replace_new(base, base->tp_new);
    for (const auto& [type, infos] : internals.registered_types_py) {
      if (std::string(type->tp_name).rfind(prefix, 0) != 0) {
        continue; // a class of another library
      }
      for (py::detail::type_info* info : infos) {
        info->operator_new = refuse_to_allocate;
      }
    }
  });
}

} // namespace reftorch::torch
