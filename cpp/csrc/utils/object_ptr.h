// Mirrors: torch/csrc/utils/object_ptr.h
// Owning a reference that C code gave. Left out: PyTorch's own pointer class; pybind11's object is one.
#pragma once

#include <csrc/Exceptions.h>

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// A new reference, or a null that says that a Python error is set.
inline pybind11::object steal(PyObject* obj) {
  if (obj == nullptr) {
    throw_python_error();
  }
  return pybind11::reinterpret_steal<pybind11::object>(obj);
}

} // namespace reftorch::torch
