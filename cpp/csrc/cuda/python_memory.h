// Mirrors: torch/csrc/cuda/memory_snapshot.h
#pragma once

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// Adds the functions that reftorch/cuda/memory.py calls to `reftorch._C`. Starts no device.
void initCudaMemory(pybind11::module_& m);

} // namespace reftorch::torch
