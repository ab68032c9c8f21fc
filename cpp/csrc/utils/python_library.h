// Mirrors: torch/csrc/utils/python_dispatch.h
//
// Libraries of Python: ops that Python defines and kernels that are Python functions (torch.library), and the guards
// that such kernels use.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch {

// The value of a _C.DispatchKeySet. Throws TypeError for another object.
c10::DispatchKeySet unpack_dispatch_key_set(PyObject* obj);

// What a schema says, as a dict: for torch.ops, documentation and tests. A new reference; throws python_error.
PyObject* describe_schema(const at::FunctionSchema& schema);

// Needs the types of initDispatchBindings.
void initLibraries(PyObject* module);

} // namespace reftorch::torch
