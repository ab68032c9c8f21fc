// Mirrors: torch/csrc/autograd/python_variable_methods (generated),
// torch/csrc/autograd/python_torch_functions_manual.cpp The one loop that binds every op, and the call that all of them
// share.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// The callable behind `torch.add` and `Tensor.add`: all overloads of one name.
struct OpOverloadPacket;

// Borrowed; null if there is no method of that name.
PyObject* find_method(const char* name);
// What an operator is called where it is overridden: attributes of Tensor.
struct OperatorNames {
  const char* name;
  const char* reflected = nullptr; // with the tensor on the right; it gets the tensor first
};
// Calls an op on tensors and numbers, as an operator slot does: Py_NotImplemented where the types are not an op's.
PyObject* call_operator(PyObject* packet, const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs);

// Adds every op to the module's `_VariableFunctions` and `_nn`, and to TensorBase.
void initOps(PyObject* module, PyObject* tensor_base);

} // namespace reftorch::torch
