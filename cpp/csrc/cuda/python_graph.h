// Mirrors: torch/csrc/cuda/Module.h
#pragma once

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// Adds the classes and functions that reftorch/cuda/graphs.py and MemPool call to `reftorch._C`. Starts no device.
void initCudaGraph(pybind11::module_& m);

} // namespace reftorch::torch
