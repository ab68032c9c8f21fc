// Mirrors: torch/csrc/autograd/profiler_kineto.cpp (the activities of a device)
//
// Binds what the simulator records of its devices, for reftorch/autograd/profiler.py.
#pragma once

#include <pybind11/pybind11.h>

namespace reftorch::torch {

void initActivities(pybind11::module_& m);

} // namespace reftorch::torch
