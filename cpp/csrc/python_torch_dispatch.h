// Mirrors: torch/csrc/PyInterpreter.h, torch/csrc/utils/torch_dispatch_mode.h, torch/csrc/jit/python/pybind_utils.h
//
// Calls Python from an op: a mode, the __torch_dispatch__ of a tensor class, or a kernel that is a Python function. See
// Note [The Python key] in ATen/core/PythonFallbackKernel.h.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch {

// Returns whether the class has a __torch_dispatch__ that is not disabled.
bool check_has_torch_dispatch(PyTypeObject* type);

// The arguments of an op as Python passes them: a tuple, and a dict of the keyword-only arguments. Trailing arguments
// that are equal to their defaults are left out. New references; throws python_error. The caller holds the GIL.
struct PyArgsKwargs {
  PyObject* args;
  PyObject* kwargs;
};
PyArgsKwargs parse_ivalues_to_py_args_kwargs(const at::OperatorHandle& op, const at::IValue* arguments);
// Pushes the value that Python returned for the op onto the stack. `who` names the Python function in errors. Throws a
// RuntimeError if the value does not fit the schema. The caller holds the GIL.
void push_py_out_to_stack(const at::OperatorHandle& op, at::Stack* stack, PyObject* out, const char* who);

// Returns torch.ops.ns.name.overload for an entry: a borrowed reference, to the same object in every call. Throws
// python_error.
PyObject* overload_object(const at::OperatorEntry& entry);

void initTorchDispatch(PyObject* module);

} // namespace reftorch::torch
