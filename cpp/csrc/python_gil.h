// Mirrors: nothing in PyTorch: it uses guards of pybind11, and had its own until 2019 (auto_gil.h)
//
// Guards that take and release the GIL. pybind11's guards do the same, but its headers cost every file that includes
// them seconds of compilation.
//
// Note [GIL and kernels]
// Problem: other Python threads must be able to run during a long op. But releasing the GIL and taking it again costs
// as much as a small op, and nobody knows in advance which ops are long: a factory, an outer product or combinations()
// make large results from small arguments. Trick: a binding opens a GilReleaseWhenLong around its call of an op. The
// GIL is released at the first sign that the call is long, and taken again at the end of the scope. The signs are the
// same for every op:
// 1. an argument has LongWork::kNumel elements or more (the binding checks this);
// 2. more than LongWork::kBytes are allocated (the allocator reports this);
// 3. a loop is large enough to be split over threads (parallel_for reports this);
// 4. a matrix is large enough for cubic work (the callers of BLAS and LAPACK report this);
// 5. another thread holds a lock (c10::Mutex reports this), or a device has work that is waited for (CUDAStream).
// Code that needs Python inside an op takes the GIL with GilAcquire, whether or not the thread has released the GIL. As
// long as the GilAcquire exists, no sign releases the GIL again. A loop that makes millions of Python objects needs the
// GIL all the time. Such a loop counts its steps with a GilYield, which lets other threads run from time to time;
// during a step, other threads may change every object that they can reach.
//
// Note [The end of Python]
// Problem: when the interpreter ends, other threads may still be inside an op, because daemon threads are not joined.
// CPython before 3.14 ends such a thread when the thread asks for the GIL: pthread_exit unwinds the stack. Our
// destructors would then run without the GIL, and those that must not throw abort the process. Trick: such a thread
// stops, as in Python 3.14, until the process has ended. GilAcquire and GilRelease stop the thread at the place where
// it asks for the GIL. If Python asks for the GIL itself, in a function that we call, the thread stops at the first
// destructor that would abort the process.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/macros/Export.h>
#include <c10/util/LongWork.h>

namespace reftorch::torch {

// Like PyGILState_Ensure and PyEval_RestoreThread, but see Note [The end of Python].
C10_API PyGILState_STATE ensure_gil();
C10_API void restore_thread(PyThreadState* state);

// Takes the GIL on any thread, whether or not the thread holds it already.
class GilAcquire final {
 public:
  GilAcquire() : state_(ensure_gil()) {}
  ~GilAcquire() {
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
  c10::LongWork::Suspended suspended_;
};

// Releases the GIL for the lifetime of the guard. The thread must hold the GIL.
class GilRelease final {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    restore_thread(state_);
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

struct DoNothing final {
  void operator()() const {}
};

// Releases the GIL as soon as the work proves to be long, until the end of the scope. The thread must hold the GIL.
// `numel` is the size of the largest argument. `before_release` is called once, right before the GIL is released.
template <typename BeforeRelease = DoNothing>
class GilReleaseWhenLong final : private c10::LongWork {
 public:
  explicit GilReleaseWhenLong(int64_t numel = 0, BeforeRelease before_release = BeforeRelease())
      : outer_(current_), before_release_(before_release) {
    current_ = this;
    if (numel >= kNumel) {
      on_begin();
    }
  }
  ~GilReleaseWhenLong() {
    current_ = outer_;
    if (state_ != nullptr) {
      restore_thread(state_);
    }
  }

 private:
  void on_begin() override {
    if (state_ == nullptr) {
      before_release_();
      state_ = PyEval_SaveThread();
    }
  }

  c10::LongWork* const outer_;
  BeforeRelease before_release_;
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

// On the main thread, Python's state of that thread, which lives as long as Python does. Null on every other thread.
// note_main_thread() sets this if the main thread imports the module.
inline thread_local PyThreadState* main_thread_state = nullptr;
// Called once, when the module is imported; also prepares for the end of Python.
void note_main_thread();

// Asks Python, on any thread, whether this thread holds the GIL.
C10_API bool python_says_gil_is_held();

// The state of the thread that holds the GIL (until Python 3.11), or of this thread if it holds the GIL; or null.
inline PyThreadState* current_thread_state() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

// Returns whether this thread holds the GIL; false after Python has ended. Every op that saves a tensor or makes a view
// asks this, and a call of Python for the answer takes several times as long as two comparisons, so the main thread is
// looked at first. The comparisons are right for the main thread alone: Python may free the state of another thread and
// make a new state at the same address.
inline bool holds_gil() {
  const bool main_thread_does = main_thread_state != nullptr && current_thread_state() == main_thread_state;
  return __builtin_expect(main_thread_does, 1) || python_says_gil_is_held();
}

// Add and drop a reference on any thread, with or without the GIL. Both functions do nothing if Python has ended, or is
// ending and this thread does not hold the GIL, because the thread would wait for the GIL for ever.
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
