// Mirrors: torch/csrc/profiler/python/combined_traceback.h (the frames of Python)
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <optional>
#include <string>
#include <vector>

namespace reftorch::torch::profiler {

using c10::CachingDeviceAllocator::Frame;

// Returns the frames of the Python code that this thread runs, the innermost first; nothing in a thread that runs no
// Python, such as one of the engine's.
std::optional<std::vector<Frame>> python_frames();

// Returns the same as texts, such as "train.py(31): step"; empty in a thread that runs no Python.
std::vector<std::string> python_stack();

} // namespace reftorch::torch::profiler
