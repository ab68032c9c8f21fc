// Mirrors: torch/csrc/distributed/c10d/init.cpp
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::c10d {

// Adds ProcessGroupNCCL to the module _distributed_c10d, which has ProcessGroup already.
void init_nccl(PyObject* module);

} // namespace reftorch::c10d
