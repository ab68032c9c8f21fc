// Mirrors: torch/csrc/utils/object_ptr.h
//
// Takes over a reference that the C API returned. Left out: PyTorch's own pointer class, because pybind11::object does
// the same.
#pragma once

#include <csrc/Exceptions.h>

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// `obj` is a new reference, or null if a Python error is set, which is thrown.
inline pybind11::object steal(PyObject* obj) {
  if (obj == nullptr) {
    throw_python_error();
  }
  return pybind11::reinterpret_steal<pybind11::object>(obj);
}

} // namespace reftorch::torch
