// Mirrors: c10/core/SafePyObject.h
// An owner for Python objects that C++ keeps and drops on any thread.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>

namespace reftorch::torch {

// Takes over a new reference. The last owner may let go of the object with or without the GIL. Throws python_error for
// null, which says that a Python error is set; the caller holds the GIL.
std::shared_ptr<PyObject> share_object(PyObject* owned);

} // namespace reftorch::torch
