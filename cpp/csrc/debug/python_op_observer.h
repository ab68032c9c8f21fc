// Mirrors: torch/csrc/utils/python_dispatch.h
//
// Lets a Python function observe every op. Left out: modes that replace what an op does.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::debug {

// Adds `set_op_observer` and `clear_op_observer` to `module`, a borrowed reference.
void init_op_observer_bindings(PyObject* module);

} // namespace reftorch::torch::debug
