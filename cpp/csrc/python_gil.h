// Mirrors: torch/csrc/utils/auto_gil.h (as it was); pybind11's guards do the same and cost every file that includes
// them seconds to compile.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch {

// Takes the GIL on any thread, whether or not it holds it already.
class GilAcquire final {
 public:
  GilAcquire() : state_(PyGILState_Ensure()) {}
  ~GilAcquire() {
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// Gives the GIL up for as long as it lives. The thread must hold it.
class GilRelease final {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    PyEval_RestoreThread(state_);
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

} // namespace reftorch::torch
