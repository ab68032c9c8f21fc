// Mirrors: torch/csrc/utils/pybind.h
// The door between the binding and C++ that is compiled next to a running reftorch: tensors and errors cross it. The
// binding's own functions stay hidden, and may change without a word. Left out: everything an extension does in C++.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>

namespace reftorch::torch {

// The tensor of a Python object; TypeError where it is none. The GIL must be held, here and below.
TORCH_API at::Tensor tensor_from_python(PyObject* obj);
// A new reference to the tensor's Python object, the same for every call; null with a Python error set on failure.
TORCH_API PyObject* tensor_to_python(const at::Tensor& tensor);
// Whether a Python object is a tensor.
TORCH_API bool is_tensor(PyObject* obj);
// Sets the Python error for the C++ exception being handled; call it in a catch block.
TORCH_API void error_to_python();
// Throws the current Python error as a C++ exception, which error_to_python() turns back.
[[noreturn]] TORCH_API void throw_error_from_python();

} // namespace reftorch::torch
