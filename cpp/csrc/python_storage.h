// Mirrors: torch/csrc/Storage.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds StorageBase, which the UntypedStorage of reftorch/storage.py wraps.
void initStorage(PyObject* module);

} // namespace reftorch::torch
