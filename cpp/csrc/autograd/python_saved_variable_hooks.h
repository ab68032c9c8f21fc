// Mirrors: torch/csrc/autograd/python_saved_variable_hooks.h
// Pack and unpack hooks written in Python, and the Python face of a saved tensor.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

// SavedTensor objects that keep `owner`, whose `saved` they show, alive: one, or a tuple of them. New reference.
PyObject* wrap_saved_tensors(const std::shared_ptr<Node>& owner, at::ArrayRef<SavedVariable> saved, bool as_tuple);

void initSavedVariableHooks(PyObject* module);

} // namespace reftorch::torch::autograd
