// Mirrors: torch/csrc/autograd/python_variable_indexing.h, torch/csrc/utils/tensor_new.h, torch/csrc/utils/tensor_numpy.h
//
// The parts of the Python tensor type that are not ops; each part has a file of its own.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

#include <vector>

namespace reftorch::torch {

// Makes a Python object of `type` for a tensor that has none. Returns a new reference.
PyObject* THPVariable_NewWithVar(PyTypeObject* type, at::Tensor var);

// tp_new of the tensor type: torch.Tensor(2, 3), torch.Tensor([1, 2]). Defined in utils/python_tensor_new.cpp.
PyObject* THPVariable_pynew(PyTypeObject* type, PyObject* args, PyObject* kwargs);
// torch.tensor(data, ...), which torch.as_tensor calls too.
PyObject* tensor_ctor(PyObject* module, PyObject* args, PyObject* kwargs);
PyObject* THPVariable_tolist(PyObject* self, PyObject*);
// Shows a tensor that was made of Python data to the dispatch mode that is on, if there is one, by calling the op
// lift_fresh. Only a mode could tell whether the op was called, so nothing is called without one.
at::Tensor show_to_mode(const at::Tensor& made);

// A tensor on an array's memory, and an array on a tensor's memory. Defined in utils/python_tensor_numpy.cpp.
PyObject* tensor_from_numpy(PyObject* module, PyObject* array);
// The arguments are (buffer, dtype, count, offset).
PyObject* tensor_frombuffer(PyObject* module, PyObject* args);
PyObject* THPVariable_numpy(PyObject* self, PyObject* args, PyObject* kwargs);
bool is_numpy_array(PyObject* obj); // also an object of a subclass
// The dtype of an array or of one of numpy's numbers. Throws a TypeError if no dtype corresponds.
c10::ScalarType numpy_scalar_type(PyObject* obj);

// x[i], x[i] = v and len(x). Defined in python_variable_indexing.cpp.
PyObject* THPVariable_getitem(PyObject* self, PyObject* index);
int THPVariable_setitem(PyObject* self, PyObject* index, PyObject* value);
Py_ssize_t THPVariable_length(PyObject* self);

// The number and mapping slots, properties and methods of the type. Defined in python_variable_methods.cpp.
void append_variable_slots(std::vector<PyType_Slot>& slots);
// The properties requires_grad, grad, grad_fn ... Defined in python_variable_properties.cpp.
PyGetSetDef* THPVariable_autograd_properties();
// Looks up the ops of the operators; call this function after the ops are bound.
void initOperators();

} // namespace reftorch::torch
