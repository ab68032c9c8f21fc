// Mirrors: torch/csrc/autograd/python_variable_indexing.h, torch/csrc/utils/tensor_new.h,
// torch/csrc/utils/tensor_numpy.h The parts of the Python tensor type that are no ops, one per file.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

#include <vector>

namespace reftorch::torch {

// A new Python object of `type` for a tensor that has none.
PyObject* THPVariable_NewWithVar(PyTypeObject* type, at::Tensor var);

// tp_new: torch.Tensor(2, 3), torch.Tensor([1, 2]). (utils/python_tensor_new.cpp)
PyObject* THPVariable_pynew(PyTypeObject* type, PyObject* args, PyObject* kwargs);
// torch.tensor(data, ...) and torch.as_tensor's data path.
PyObject* tensor_ctor(PyObject* module, PyObject* args, PyObject* kwargs);
PyObject* THPVariable_tolist(PyObject* self, PyObject*);

// A tensor on an array's memory, and an array on a tensor's. (utils/python_tensor_numpy.cpp)
PyObject* tensor_from_numpy(PyObject* module, PyObject* array);
// (buffer, dtype, count, offset)
PyObject* tensor_frombuffer(PyObject* module, PyObject* args);
PyObject* THPVariable_numpy(PyObject* self, PyObject* args, PyObject* kwargs);
bool is_numpy_array(PyObject* obj); // or of a subclass
// The dtype of an array or of one of numpy's numbers. TypeError where there is none like it.
c10::ScalarType numpy_scalar_type(PyObject* obj);

// x[i], x[i] = v, len(x). (python_variable_indexing.cpp)
PyObject* THPVariable_getitem(PyObject* self, PyObject* index);
int THPVariable_setitem(PyObject* self, PyObject* index, PyObject* value);
Py_ssize_t THPVariable_length(PyObject* self);

// Number and mapping slots, properties and methods. (python_variable_methods.cpp)
void append_variable_slots(std::vector<PyType_Slot>& slots);
// requires_grad, grad, grad_fn ... (python_variable_properties.cpp)
PyGetSetDef* THPVariable_autograd_properties();
// Looks the operators' ops up once they are bound.
void initOperators();

} // namespace reftorch::torch
