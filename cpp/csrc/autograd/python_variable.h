// Mirrors: torch/csrc/autograd/python_variable.h
// The Python face of a Tensor: one PyObject per TensorImpl, whoever asks for it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

namespace reftorch::torch {

struct THPVariable {
  PyObject_HEAD at::Tensor cdata;
  PyObject* backward_hooks; // the dict behind register_hook; null until one is registered
};

extern PyTypeObject* THPVariableBaseType; // _C.TensorBase
extern PyObject* THPVariableClass;        // reftorch.Tensor, once Python has made it

// A new reference to the tensor's Python object; None for an undefined tensor. Null with a Python error set on failure.
PyObject* THPVariable_Wrap(at::Tensor var);

inline bool THPVariable_Check(PyObject* obj) {
  return reinterpret_cast<PyObject*>(Py_TYPE(obj)) == THPVariableClass || PyObject_TypeCheck(obj, THPVariableBaseType);
}
inline const at::Tensor& THPVariable_Unpack(PyObject* obj) {
  return reinterpret_cast<THPVariable*>(obj)->cdata;
}

void initTensorBase(PyObject* module);

} // namespace reftorch::torch
