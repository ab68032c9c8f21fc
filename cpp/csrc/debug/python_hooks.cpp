// Mirrors: nothing in PyTorch: handles that a debugger holds on to.
//
// The functions of hooks.h that need the interpreter. Left out: everything that a debugger can do without the
// interpreter.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/debug/hooks.h>

namespace {

int on_trace_event(PyObject* /*argument*/, PyFrameObject* /*frame*/, int what, PyObject* /*value*/) {
  if (what == PyTrace_LINE) {
    reftorch_debug_py_line();
  }
  return 0;
}

} // namespace

extern "C" {

__attribute__((visibility("default"), noinline, used)) void reftorch_debug_py_line() {
  asm volatile(""); // the optimizer would drop calls of an empty function
}

__attribute__((visibility("default"), used)) void reftorch_debug_trace_python(int on) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyEval_SetTrace(on ? on_trace_event : nullptr, nullptr);
  PyGILState_Release(state);
}

__attribute__((visibility("default"), used)) void reftorch_debug_report_crash() {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyRun_SimpleString("from reftorch.debug.core import gdb_session\ngdb_session.report_crash()\n");
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(state);
}
}
