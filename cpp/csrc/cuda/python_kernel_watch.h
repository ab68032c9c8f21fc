// Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
#pragma once

#include <pybind11/pybind11.h>

namespace reftorch::torch {

// Binds the watcher of kernels, which only a simulated device has: see Note [Watching kernels].
void initKernelWatch(pybind11::module_& m);

} // namespace reftorch::torch
