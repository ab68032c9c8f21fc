// Mirrors: torch/extension.h
// torch/all.h, and the way of a C++ function into Python. Apart from it, because pybind11 makes the compiler's work
// four times as long.
#pragma once

#include <csrc/utils/pybind.h>
#include <torch/all.h>
