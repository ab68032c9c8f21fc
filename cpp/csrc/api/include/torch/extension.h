// Mirrors: torch/extension.h
//
// Includes torch/all.h and the binding of C++ functions to Python. This header is separate from torch/all.h because
// pybind11 makes compilation take four times as long.
#pragma once

#include <csrc/utils/pybind.h>
#include <torch/all.h>

namespace py = pybind11;
