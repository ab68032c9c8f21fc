// Mirrors: c10/core/SafePyObject.h
//
// An owner for Python objects that C++ stores and drops on any thread.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>

namespace reftorch::torch {

// Takes over a new reference. The last owner may drop the object with or without the GIL. Throws python_error if
// `owned` is null, which means that a Python error is set. The caller of share_object holds the GIL.
std::shared_ptr<PyObject> share_object(PyObject* owned);

} // namespace reftorch::torch
