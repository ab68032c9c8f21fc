// Mirrors: torch/csrc/cuda/Module.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds the functions that reftorch/cuda calls to `reftorch._C`. Starts no device: the first call that needs one does.
void initCuda(PyObject* module);

} // namespace reftorch::torch
