// Mirrors: torch/csrc/utils/python_dispatch.h
//
// Shows the Dispatcher to Python: the contents of each op's table, and the places of the registrations.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/core/DispatchKey.h>

#include <string>

namespace reftorch::torch {

// Returns the key of a name such as "CPU" or "CompositeImplicitAutograd". Throws a RuntimeError if no key has this
// name.
c10::DispatchKey parseDispatchKey(const std::string& name);

// Adds DispatchKey, DispatchKeySet and the functions `_dispatch_*` to `module`, a borrowed reference.
void initDispatchBindings(PyObject* module);

} // namespace reftorch::torch
