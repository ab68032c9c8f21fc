// Mirrors: nothing in PyTorch: it counts the references of C++ in the Python object, and resurrects none.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace reftorch::torch {

// CPython runs tp_finalize once per object; an object that was resurrected must be able to do it again.
inline void clear_finalized_bit(PyObject* obj) {
#if defined(Py_GIL_DISABLED)
#error "reftorch needs a CPython with the GIL"
#endif
  constexpr uintptr_t kFinalized =
      1; // CPython's _PyGC_PREV_MASK_FINALIZED, in _gc_prev: the last word before the object
  reinterpret_cast<uintptr_t*>(obj)[-1] &= ~kFinalized;
}

} // namespace reftorch::torch
