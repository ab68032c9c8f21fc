// Mirrors: torch/csrc/utils/pybind.h
//
// The functions of the binding that extensions call: they pass tensors and errors between C++ and Python. All other
// functions of the binding are hidden and may change at any time. Left out: everything that an extension does in C++.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

namespace reftorch::torch {

// Returns the tensor of a Python object. Throws a TypeError for any other object. The caller of this function, and of
// all functions below, holds the GIL.
TORCH_API at::Tensor tensor_from_python(PyObject* obj);
// Returns a new reference to the tensor's Python object, which is the same for every call. Returns null with a Python
// error set on failure.
TORCH_API PyObject* tensor_to_python(const at::Tensor& tensor);
// Returns whether a Python object is a tensor.
TORCH_API bool is_tensor(PyObject* obj);
// Sets the Python error for the C++ exception being handled. Call this function in a catch block.
TORCH_API void error_to_python();
// Throws the current Python error as a C++ exception, which error_to_python() converts back.
[[noreturn]] TORCH_API void throw_error_from_python();

} // namespace reftorch::torch
