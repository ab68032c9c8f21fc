// Mirrors: torch/csrc/autograd/init.cpp (its forward-mode part)
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

void initForwardAD(PyObject* module);

} // namespace reftorch::torch::autograd
