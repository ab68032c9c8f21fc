// Mirrors: torch/csrc/autograd/python_variable_methods (generated), torch/csrc/autograd/python_torch_functions_manual.cpp
//
// Declares the one loop that binds every op, and the call that all of them share.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// The Python object of `torch.add` and of `Tensor.add`: all overloads of one name.
struct OpOverloadPacket;

// Returns a borrowed reference; null if no method has this name.
PyObject* find_method(const char* name);
// The attributes of Tensor under which __torch_function__ sees an operator.
struct OperatorNames {
  const char* name;
  const char* reflected = nullptr; // the name if the tensor is on the right; the tensor is then the first argument
};
// Calls an op on tensors and numbers, for an operator slot. Returns Py_NotImplemented if an operand is neither.
PyObject* call_operator(PyObject* packet, const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs);

// Adds every op to the module's `_VariableFunctions`, `_nn`, `_linalg` and `_special`, and the methods to
// `tensor_base`.
void initOps(PyObject* module, PyObject* tensor_base);

} // namespace reftorch::torch
