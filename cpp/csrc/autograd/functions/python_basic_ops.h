// Mirrors: torch/csrc/autograd/python_autograd.h
//
// Adds the classes of functions/basic_ops.h that Python calls to the module _C._functions.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

void initBasicOps(PyObject* module);

} // namespace reftorch::torch::autograd
