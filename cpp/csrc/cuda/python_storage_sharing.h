// Mirrors: torch/csrc/StorageSharing.h
#pragma once

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// Adds the functions by which storages of CUDA devices are sent to other processes to `reftorch._C`. Starts no device.
void initCudaStorageSharing(pybind11::module_& m);

} // namespace reftorch::torch
