// Mirrors: torch/csrc/autograd/python_variable.h
//
// The Python object of a Tensor. There is one PyObject per TensorImpl; see Note [One PyObject per TensorImpl].
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

namespace reftorch::torch {

struct THPVariable {
  PyObject_HEAD at::Tensor cdata; // always defined after the construction
  PyObject* backward_hooks;       // the dict of register_hook; null until a hook is registered
};

extern PyTypeObject* THPVariableBaseType; // _C.TensorBase
extern PyObject* THPVariableClass;        // reftorch.Tensor; until Python has made it, _C.TensorBase

// Returns a new reference to the tensor's Python object; None for an undefined tensor. Returns null with a Python error
// set on failure.
PyObject* THPVariable_Wrap(at::Tensor var);

// Returns the tensor of an object and takes over the caller's reference to the object. See Note [Passing tensors].
at::Tensor THPVariable_Take(PyObject* obj);
// Drops a reference to an object that the caller got from THPVariable_Wrap, for a tensor that the caller still holds.
// If nobody else refers to the object, the object is separated from the tensor and deleted.
void THPVariable_Return(PyObject* obj);

inline bool THPVariable_Check(PyObject* obj) {
  return reinterpret_cast<PyObject*>(Py_TYPE(obj)) == THPVariableClass || PyObject_TypeCheck(obj, THPVariableBaseType);
}
inline const at::Tensor& THPVariable_Unpack(PyObject* obj) {
  return reinterpret_cast<THPVariable*>(obj)->cdata;
}

void initTensorBase(PyObject* module);

} // namespace reftorch::torch
