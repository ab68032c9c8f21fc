// Mirrors: nothing in PyTorch: there Generator, Stream and Event are plain C types, whose __new__ makes a whole object
//
// Makes it safe to use the classes of pybind11 against their rules; see Note [Objects without a value].
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace reftorch::torch {

// Returns a member function as a function that takes `self` by reference, for which pybind11 refuses None.
template <typename Result, typename Class, typename... Args>
auto method(Result (Class::*function)(Args...)) {
  return [function](Class& self, Args... args) -> Result { return (self.*function)(std::forward<Args>(args)...); };
}
template <typename Result, typename Class, typename... Args>
auto method(Result (Class::*function)(Args...) const) {
  return
      [function](const Class& self, Args... args) -> Result { return (self.*function)(std::forward<Args>(args)...); };
}

// Guards all classes of `module` and of its submodules. Call this function after the last class has been bound.
void initInstances(PyObject* module);

} // namespace reftorch::torch
