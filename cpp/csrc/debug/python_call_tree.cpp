// Mirrors: torch/csrc/autograd/profiler_python.cpp (Python frames in the order of the native events)
//
// Reports the calls of Python functions to the call tree. Left out: C functions that Python calls, and threads that
// Python did not start.
#include <Python.h>

#include <csrc/debug/call_tree.h>
#include <csrc/debug/python_call_tree.h>

#include <unordered_set>

namespace reftorch::torch::debug {
namespace {

std::unordered_set<PyCodeObject*>& codes() {
  static auto* set = new std::unordered_set<PyCodeObject*>;
  return *set;
}

int on_event(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  if (what != PyTrace_CALL && what != PyTrace_RETURN) {
    return 0;
  }
  PyCodeObject* code = PyFrame_GetCode(frame);
  const auto key = reinterpret_cast<std::uintptr_t>(code) | kPythonCall;
  if (what == PyTrace_CALL) {
    enter_call(key);
    if (codes().insert(code).second) {
      return 0; // the set owns the reference
    }
  } else {
    exit_call(key);
  }
  Py_DECREF(code);
  return 0;
}

} // namespace

void start_python_calls() {
  PyEval_SetProfile(on_event, nullptr);
}

void stop_python_calls() {
  PyEval_SetProfile(nullptr, nullptr);
}

void release_python_calls() {
  for (PyCodeObject* code : codes()) {
    Py_DECREF(code);
  }
  codes().clear();
}

} // namespace reftorch::torch::debug
