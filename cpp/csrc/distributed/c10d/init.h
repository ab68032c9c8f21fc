// Mirrors: torch/csrc/distributed/c10d/c10d.h
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::c10d {

// Adds the submodule _distributed_c10d: stores, process groups, works and options.
void initC10d(PyObject* module);

} // namespace reftorch::c10d
