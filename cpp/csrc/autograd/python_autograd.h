// Mirrors: torch/csrc/autograd/python_autograd.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds everything of autograd to the module `_C`. The tensor type must exist.
void initAutogradBindings(PyObject* module);

} // namespace reftorch::torch
