// Mirrors: torch/csrc/autograd/python_variable.h
// The Python face of a Tensor: one PyObject per TensorImpl, whoever asks for it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

namespace reftorch::torch {

struct THPVariable {
  PyObject_HEAD at::Tensor cdata; // always defined, once the object is made
  PyObject* backward_hooks;       // the dict behind register_hook; null until one is registered
};

extern PyTypeObject* THPVariableBaseType; // _C.TensorBase
extern PyObject* THPVariableClass;        // reftorch.Tensor, once Python has made it

// A new reference to the tensor's Python object; None for an undefined tensor. Null with a Python error set on failure.
PyObject* THPVariable_Wrap(at::Tensor var);

// The tensor of an object. The caller gives up its reference to the object. See Note [Passing tensors].
at::Tensor THPVariable_Take(PyObject* obj);
// Drops a reference to an object that the caller made with THPVariable_Wrap of a tensor that the caller still holds. If
// nobody else refers to the object, the tensor is parted from it.
void THPVariable_Return(PyObject* obj);

inline bool THPVariable_Check(PyObject* obj) {
  return reinterpret_cast<PyObject*>(Py_TYPE(obj)) == THPVariableClass || PyObject_TypeCheck(obj, THPVariableBaseType);
}
inline const at::Tensor& THPVariable_Unpack(PyObject* obj) {
  return reinterpret_cast<THPVariable*>(obj)->cdata;
}

void initTensorBase(PyObject* module);

} // namespace reftorch::torch
