// Mirrors: torch/csrc/utils/python_dispatch.h
//
// Binds torch.library: ops that Python defines, kernels that are Python functions, and the guards that such kernels
// use.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch {

// Returns the value of a _C.DispatchKeySet. Throws a TypeError for any other object.
c10::DispatchKeySet unpack_dispatch_key_set(PyObject* obj);

// Describes a schema as a dict, for torch.ops, documentation and tests. Returns a new reference; throws python_error.
PyObject* describe_schema(const at::FunctionSchema& schema);

// Call this function after initDispatchBindings, which binds the types that it needs.
void initLibraries(PyObject* module);

} // namespace reftorch::torch
