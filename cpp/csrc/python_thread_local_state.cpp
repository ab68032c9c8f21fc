// Mirrors: torch/csrc/autograd/python_engine.cpp (PythonEngine::thread_init)
//
// The part of at::ThreadLocalState that belongs to Python: context variables, and the objects of
// reftorch/_thread_local.py.
#include <csrc/python_thread_local_state.h>

#include <csrc/Exceptions.h>
#include <csrc/python_gil.h>

#include <ATen/ThreadLocalState.h>

namespace reftorch::torch {

std::shared_ptr<PyObject> share_object(PyObject* owned) {
  if (owned == nullptr) {
    throw_python_error();
  }
  return std::shared_ptr<PyObject>(owned, &decref_anywhere);
}

namespace {

// Python stores thread-local values in its PyThreadState. A thread that Python did not start has a PyThreadState only
// from PyGILState_Ensure to PyGILState_Release. This object keeps the PyThreadState alive, without the GIL, until the
// thread ends.
class PythonThread final {
 public:
  PythonThread() : state_(PyGILState_Ensure()), thread_(PyEval_SaveThread()) {}
  ~PythonThread() {
    PyEval_RestoreThread(thread_);
    PyGILState_Release(state_);
  }

 private:
  PyGILState_STATE state_;
  PyThreadState* thread_;
};

struct PythonState {
  std::shared_ptr<PyObject> context, values;
};

PyObject* call_thread_local(const char* function, PyObject* argument) {
  PyObject* module = PyImport_ImportModule("reftorch._thread_local");
  PyObject* result = module != nullptr
                         ? PyObject_CallMethod(module, function, argument != nullptr ? "O" : nullptr, argument)
                         : nullptr;
  Py_XDECREF(module);
  return result;
}

PythonState get_python_state() {
  const GilAcquire gil;
  return {share_object(PyContext_CopyCurrent()), share_object(call_thread_local("capture", nullptr))};
}

void set_python_state(const PythonState& state) {
  const bool is_fresh = PyGILState_GetThisThreadState() == nullptr;
  if (is_fresh) {
    static thread_local const PythonThread thread;
  }
  const GilAcquire gil;
  // On a thread that Python started, the code that runs there enters and leaves contexts itself. A context can be
  // entered by one thread at a time, and several threads may take over the same state, so each enters a copy.
  if (is_fresh) {
    const std::shared_ptr<PyObject> copy = share_object(PyContext_Copy(state.context.get()));
    if (PyContext_Enter(copy.get()) < 0) {
      throw_python_error();
    }
  }
  share_object(call_thread_local("restore", state.values.get())); // throws if the call failed
}

const at::RegisterThreadLocal<&get_python_state, &set_python_state> python_state("reftorch/_thread_local.py");

} // namespace
} // namespace reftorch::torch
