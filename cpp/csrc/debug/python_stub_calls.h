// Mirrors: nothing in PyTorch: see python_stub_calls.cpp
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::debug {

// Adds `record_stub_calls` and `take_stub_calls` to `module`, a borrowed reference.
void init_stub_call_bindings(PyObject* module);

} // namespace reftorch::torch::debug
