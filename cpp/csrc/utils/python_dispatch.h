// Mirrors: torch/csrc/utils/python_dispatch.h
// The Dispatcher for a reader in Python: what each op's table holds, and where it was registered.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/core/DispatchKey.h>

#include <string>

namespace reftorch::torch {

// "CPU", "CompositeImplicitAutograd". RuntimeError for a name that no key has.
c10::DispatchKey parseDispatchKey(const std::string& name);

// Adds DispatchKey, DispatchKeySet and the functions `_dispatch_*` to `module`, a borrowed reference.
void initDispatchBindings(PyObject* module);

} // namespace reftorch::torch
