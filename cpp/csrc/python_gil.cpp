// Mirrors: nothing in PyTorch: it uses guards of pybind11, and had its own until 2019 (auto_gil.h)
//
// What the quick answer of holds_gil() needs to know: which thread is the main thread.
#include <csrc/python_gil.h>

#include <sys/syscall.h>
#include <unistd.h>

namespace reftorch::torch {

void note_main_thread() {
  if (syscall(SYS_gettid) == getpid()) { // the kernel numbers the first thread of a process as the process
    main_thread_state = PyThreadState_Get();
  }
}

bool python_says_gil_is_held() {
  return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
}

} // namespace reftorch::torch
