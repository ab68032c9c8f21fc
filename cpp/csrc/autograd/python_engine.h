// Mirrors: torch/csrc/autograd/python_engine.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::autograd {

// Binds `_run_backward`, which Tensor.backward, autograd.backward and autograd.grad call, `_queue_callback`, and the
// questions that Python asks about the running pass.
void initEngine(PyObject* module);

} // namespace reftorch::torch::autograd
