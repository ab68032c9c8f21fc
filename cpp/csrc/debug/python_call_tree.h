// Mirrors: torch/csrc/autograd/profiler_python.cpp (Python frames in the order of the native events)
//
// Left out: C functions that Python calls, and threads that Python did not start.
#pragma once

namespace reftorch::torch::debug {

// Adds the Python calls of this thread to the running call tree. Replaces the thread's sys.setprofile function. The
// code objects of the calls stay alive until release_python_calls(). The caller holds the GIL.
void start_python_calls();
void stop_python_calls();
void release_python_calls();

} // namespace reftorch::torch::debug
