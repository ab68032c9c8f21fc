// Mirrors: torch/csrc/autograd/python_autograd.h
// The module _C._functions gets what Python calls of functions/basic_ops.h.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

void initBasicOps(PyObject* module);

} // namespace reftorch::torch::autograd
