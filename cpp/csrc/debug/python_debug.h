// Mirrors: nothing in PyTorch: the native half of reftorch.debug.
// Left out: anything that Python or gdb can do without it.
#pragma once

#include <Python.h>

namespace reftorch::torch::debug {

// Adds the submodule `_debug` to `module` (a borrowed reference to reftorch._C) and gives debuggers leave to attach if
// the environment asks for it. Called once, by Module.cpp, last: it calls into the library. Throws pybind11's errors.
void init_debug_bindings(PyObject* module);

} // namespace reftorch::torch::debug
