// Mirrors: torch/csrc/utils/auto_gil.h (as it was); pybind11's guards do the same and cost every file that includes
// them seconds to compile.
//
// Note [GIL and kernels]
// Problem: while an op computes for long, other Python threads must run. But giving the GIL up and taking it back costs
// as much as a small op, and nobody knows beforehand which ops are long: a factory, an outer product or combinations()
// make something large out of small arguments. Trick: a binding opens a GilReleaseWhenLong around its call of an op.
// The GIL is then given up at the first sign that the call is long, and taken back when the scope is left. The signs
// are the same for every op:
// 1. an argument has LongWork::kNumel elements or more (the binding looks);
// 2. more than LongWork::kBytes are allocated (the allocator says so);
// 3. a loop is large enough to be split over threads (parallel_for says so);
// 4. a matrix is large enough for cubic work (the callers of BLAS and LAPACK say so);
// 5. a lock is held by another thread (c10::Mutex says so).
// Code that needs Python inside of an op takes the GIL with GilAcquire, whether or not the thread gave it up; as long
// as that lives, no sign makes the thread give it up again. What makes Python objects by the million cannot do without
// the GIL. Such a loop counts its steps with a GilYield, which lets other threads run from time to time; during a
// step's call, those may change every object that they reach.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/util/LongWork.h>

namespace reftorch::torch {

// Takes the GIL on any thread, whether or not the thread holds it already.
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
  c10::LongWork::Suspended suspended_;
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

// Gives the GIL up as soon as the work shows to be long, until the scope is left. The thread must hold it. `numel` is
// the size of the largest argument.
class GilReleaseWhenLong final : private c10::LongWork {
 public:
  explicit GilReleaseWhenLong(int64_t numel = 0) : outer_(current_) {
    current_ = this;
    if (numel >= kNumel) {
      on_begin();
    }
  }
  ~GilReleaseWhenLong() {
    current_ = outer_;
    if (state_ != nullptr) {
      PyEval_RestoreThread(state_);
    }
  }

 private:
  void on_begin() override {
    if (state_ == nullptr) {
      state_ = PyEval_SaveThread();
    }
  }

  c10::LongWork* const outer_;
  PyThreadState* state_ = nullptr;
};

// Lets other threads run once in 65536 steps of a loop that needs the GIL.
class GilYield final {
 public:
  void step() {
    if (++steps_ % 65536 == 0) {
      const GilRelease let_others_run;
    }
  }

 private:
  uint32_t steps_ = 0;
};

// Whether this thread holds the GIL. False once Python has ended.
inline bool holds_gil() {
  return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
}

// A reference more or less, on any thread. Both leave the object alone where Python has ended, or is ending and this
// thread does not hold the GIL: such a thread would wait for the GIL for ever.
inline void incref_anywhere(PyObject* obj) {
  if (holds_gil()) {
    Py_INCREF(obj);
  } else if (Py_IsInitialized()) {
    const GilAcquire gil;
    Py_INCREF(obj);
  }
}
inline void decref_anywhere(PyObject* obj) {
  if (holds_gil()) {
    Py_DECREF(obj);
  } else if (Py_IsInitialized()) {
    const GilAcquire gil;
    Py_DECREF(obj);
  }
}

} // namespace reftorch::torch
