// Mirrors: torch/csrc/autograd/python_autograd.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds the bindings of autograd to the module `_C`. Call this function after initTensorBase, which makes the tensor
// type.
void initAutogradBindings(PyObject* module);

} // namespace reftorch::torch
