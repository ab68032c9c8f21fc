// Mirrors: torch/csrc/Storage.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/core/StorageImpl.h>

namespace reftorch::torch {

// What a Python object of the class StorageBase has.
struct StorageBase {
  c10::Storage storage;
};

// Adds StorageBase, which the UntypedStorage of reftorch/storage.py wraps.
void initStorage(PyObject* module);

} // namespace reftorch::torch
