// Mirrors: nothing in PyTorch: its ops do not declare which stubs they call
//
// Records which stubs are called, for the test that checks the stubs that ops name; see Note [Kernels per device].
#include <csrc/debug/python_stub_calls.h>

#include <ATen/core/dispatch/DispatchStubImpl.h>
#include <c10/util/Mutex.h>

#include <mutex>
#include <set>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace reftorch::torch::debug {
namespace {

c10::Mutex calls_mutex; // other threads may call stubs too
std::set<std::string> calls;

[[maybe_unused]] void note_call(const at::native::DispatchStubImpl& stub) {
  const std::lock_guard<c10::Mutex> lock(calls_mutex);
  calls.insert(stub.name);
}

std::set<std::string> take_calls() {
  const std::lock_guard<c10::Mutex> lock(calls_mutex);
  return std::exchange(calls, {});
}

bool record_calls(bool on) {
#ifdef NDEBUG
  return false && on;
#else
  at::native::stub_call_observer = on ? &note_call : nullptr;
  return true;
#endif
}

} // namespace

void init_stub_call_bindings(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  m.def("record_stub_calls", &record_calls, py::arg("on"),
        "Record which stubs are called, or stop. Return whether this build can record: a Release build cannot.");
  m.def("take_stub_calls", &take_calls,
        "Return the names of the stubs that were called since the last call of this function.");
}

} // namespace reftorch::torch::debug
