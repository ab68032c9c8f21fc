// Mirrors: nothing in PyTorch: it uses guards of pybind11, and had its own until 2019 (auto_gil.h)
//
// Records which thread is the main thread, for the quick answer of holds_gil(), and stops the other threads when Python
// ends.
#include <csrc/python_gil.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

namespace reftorch::torch {

// ---- see Note [The end of Python]

namespace {

[[noreturn]] void stop_this_thread() {
  for (;;) {
    pause();
  }
}

// Stops the thread if the scope is left by unwinding.
struct StopWhenUnwound final {
  ~StopWhenUnwound() {
    if (!returned) {
      stop_this_thread();
    }
  }
  bool returned = false;
};

bool python_is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#else
  return _Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#endif
}

std::terminate_handler former_terminate = nullptr;

[[noreturn]] void stop_or_terminate() {
  if (syscall(SYS_gettid) != getpid() && python_is_ending()) { // not the thread that ends Python
    stop_this_thread();
  }
  former_terminate();
  std::abort();
}

} // namespace

PyGILState_STATE ensure_gil() {
  StopWhenUnwound stop;
  const PyGILState_STATE state = PyGILState_Ensure();
  stop.returned = true;
  return state;
}

void restore_thread(PyThreadState* state) {
  StopWhenUnwound stop;
  PyEval_RestoreThread(state);
  stop.returned = true;
}

void note_main_thread() {
  former_terminate = std::set_terminate(&stop_or_terminate);
  if (syscall(SYS_gettid) == getpid()) { // the kernel numbers the first thread of a process as the process
    main_thread_state = PyThreadState_Get();
  }
}

bool python_says_gil_is_held() {
  return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
}

} // namespace reftorch::torch
