// Mirrors: torch/csrc/functorch/init.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds the submodule _C._functorch.
void initFunctorch(PyObject* module);

} // namespace reftorch::torch
