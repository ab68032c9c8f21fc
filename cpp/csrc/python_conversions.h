// Mirrors: torch/csrc/utils/python_numbers.h, torch/csrc/utils/python_scalars.h, torch/csrc/jit/python/pybind_utils.h
//
// Converts single values between Python and C++: tells which values a Python object may stand for, converts the object
// into an IValue, and converts an IValue into a Python object.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/function_schema.h>

namespace reftorch::torch {

bool is_int(PyObject* obj);   // an int, an integer of numpy or a 0-dim integer tensor; no bool, no float
bool is_index(PyObject* obj); // also everything else that __index__ reads: an array or integer tensor of one element
bool is_float(PyObject* obj);
bool is_scalar(PyObject* obj);        // a number or a 0-dim tensor
bool is_numpy_scalar(PyObject* obj);  // such as np.float32(1)
bool is_python_number(PyObject* obj); // a float, int, bool, or a number of numpy

// Returns the position of the first item of a tuple or list that does not satisfy `pred`; -1 if all items do.
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

// Returns whether the object is a tuple or list whose items all satisfy `pred`.
template <typename Pred>
bool is_sequence_of(PyObject* obj, Pred pred) {
  return (PyTuple_Check(obj) || PyList_Check(obj)) && index_of_misfit(obj, pred) < 0;
}

// Returns the int that Python's __index__ returns. Throws python_error.
int64_t unpack_int(PyObject* obj);
// Unpacks several ints. Throws a TypeError that says which position holds no int, and why.
c10::DimVector unpack_ints(PyObject* const* items, Py_ssize_t n);
// Returns text as UTF-8. Throws python_error if the text cannot be encoded, for example "\\udc80", half of a surrogate
// pair.
std::string unpack_string(PyObject* obj);
// Returns a number of any type, for example for Tensor.fill_. Throws a TypeError, or an OverflowError if an integer
// does not fit in 64 bits.
c10::Scalar unpack_scalar(PyObject* obj);
// Returns a number for a float parameter, which accepts integers of any size. Throws python_error.
double unpack_double(PyObject* obj);
// Converts an object that is known to fit the type.
at::IValue unpack_argument(at::TypeKind type, int list_size, PyObject* obj);

// Returns a new reference. Tensors keep their Python object, and lists become tuples.
PyObject* wrap_ivalue(at::IValue value, at::TypeKind type);

} // namespace reftorch::torch
