// Mirrors: torch/csrc/utils/python_numbers.h, torch/csrc/utils/python_scalars.h, torch/csrc/jit/python/pybind_utils.h
// One value across the border: what a Python object may stand for, the IValue it becomes, and the way back.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/function_schema.h>

namespace reftorch::torch {

bool is_int(PyObject* obj);   // no bool, no float; numpy's integers count, and a 0-dim integer tensor
bool is_index(PyObject* obj); // whatever else __index__ reads, too: an array or an integer tensor of one element
bool is_float(PyObject* obj);
bool is_scalar(PyObject* obj);        // a number or a 0-dim tensor
bool is_numpy_scalar(PyObject* obj);  // such as np.float32(1)
bool is_python_number(PyObject* obj); // float, int, bool, or numpy's

// Where in a tuple or list the first item lies that does not fit; -1 if there is none.
template <typename Pred>
Py_ssize_t index_of_misfit(PyObject* list, Pred pred) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!pred(PySequence_Fast_GET_ITEM(list, i))) {
      return i;
    }
  }
  return -1;
}

// A tuple or list of nothing else.
template <typename Pred>
bool is_sequence_of(PyObject* obj, Pred pred) {
  return (PyTuple_Check(obj) || PyList_Check(obj)) && index_of_misfit(obj, pred) < 0;
}

// An int as Python's __index__ gives it. Throws python_error.
int64_t unpack_int(PyObject* obj);
// Several of them. TypeError that says at which position one is none, and why.
c10::DimVector unpack_ints(PyObject* const* items, Py_ssize_t n);
// Text as UTF-8. Throws python_error where it can not be: "\\udc80" is half of a character.
std::string unpack_string(PyObject* obj);
// A number for Tensor.fill_ and the like. Throws TypeError; OverflowError where 64 bits do not hold an integer.
c10::Scalar unpack_scalar(PyObject* obj);
// A number for a parameter that is a float, which takes integers of any size. Throws python_error.
double unpack_double(PyObject* obj);
// The value of an object that has been checked to fit the type.
at::IValue unpack_argument(at::TypeKind type, int list_size, PyObject* obj);

// A new reference; tensors keep their identity, lists become tuples.
PyObject* wrap_ivalue(at::IValue value, at::TypeKind type);

} // namespace reftorch::torch
