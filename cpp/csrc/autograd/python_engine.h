// Mirrors: torch/csrc/autograd/python_engine.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

// `_run_backward`, behind Tensor.backward, autograd.backward and autograd.grad; `_queue_callback`.
void initEngine(PyObject* module);
// Of this thread. (python_autograd.cpp)
bool is_multithreading_enabled();

} // namespace reftorch::torch::autograd
