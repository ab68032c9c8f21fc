// Mirrors: nothing in PyTorch: the native half of reftorch.debug.
//
// Left out: everything that Python or gdb can do alone.
#pragma once

#include <Python.h>

namespace reftorch::torch::debug {

// Adds the submodule `_debug` to `module` (a borrowed reference to reftorch._C), and allows debuggers to attach if the
// environment asks for that. Module.cpp calls this function once, last, because the function calls into the library.
// Throws pybind11's errors.
void init_debug_bindings(PyObject* module);

} // namespace reftorch::torch::debug
