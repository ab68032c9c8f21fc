// Mirrors: torch/csrc/autograd/profiler_python.h
//
// Binds the C++ part of the profiler for reftorch/autograd/profiler.py.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

void initProfiler(PyObject* module);

} // namespace reftorch::torch::autograd
