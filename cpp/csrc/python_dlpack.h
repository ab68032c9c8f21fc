// Mirrors: torch/csrc/Module.cpp (THPModule_toDLPack, THPModule_fromDLPack)
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Adds _to_dlpack, _to_dlpack_versioned and _from_dlpack.
void initDLPack(PyObject* module);

} // namespace reftorch::torch
