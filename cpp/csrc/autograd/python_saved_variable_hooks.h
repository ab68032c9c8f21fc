// Mirrors: torch/csrc/autograd/python_saved_variable_hooks.h
//
// Pack and unpack hooks that are written in Python, and the Python object of a saved tensor.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

// Returns SavedTensor objects for the elements of `saved`, which `owner` holds; the objects keep `owner` alive. Returns
// one object, or a tuple of them. New reference.
PyObject* wrap_saved_tensors(const std::shared_ptr<Node>& owner, at::ArrayRef<SavedVariable> saved, bool as_tuple);

void initSavedVariableHooks(PyObject* module);

} // namespace reftorch::torch::autograd
