// Mirrors: torch/csrc/cuda/Module.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds what reftorch/cuda calls to `reftorch._C`. Starts nothing: the first call that needs a device does.
void initCuda(PyObject* module);

} // namespace reftorch::torch
