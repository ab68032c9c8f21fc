// Mirrors: torch/csrc/PyInterpreter.h, torch/csrc/utils/torch_dispatch_mode.h, torch/csrc/jit/python/pybind_utils.h
//
// The way from an op to Python and back: to a mode, to a tensor class with __torch_dispatch__, and to a kernel that is
// a Python function. See Note [The Python key] in ATen/core/PythonFallbackKernel.h.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch {

// Whether instances of the class answer ops: the class has a __torch_dispatch__ that is not disabled.
bool check_has_torch_dispatch(PyTypeObject* type);

// The last arguments of the stack as Python passes them: a tuple, and a dict of what is keyword-only. Trailing
// arguments that are equal to their defaults are left out. New references; throws python_error. The GIL must be held.
struct PyArgsKwargs {
  PyObject* args;
  PyObject* kwargs;
};
PyArgsKwargs parse_ivalues_to_py_args_kwargs(const at::OperatorHandle& op, const at::IValue* arguments);
// Pushes what Python returned for the op; `who` names the Python function in errors. Throws RuntimeError where the
// result does not fit the schema. The GIL must be held.
void push_py_out_to_stack(const at::OperatorHandle& op, at::Stack* stack, PyObject* out, const char* who);

// torch.ops.ns.name.overload of an entry: borrowed, and the same object each time. Throws python_error.
PyObject* overload_object(const at::OperatorEntry& entry);

void initTorchDispatch(PyObject* module);

} // namespace reftorch::torch
