// Mirrors: nothing in PyTorch: there nobody declares which stubs an op calls
// Which stubs were called, for the test that holds the ops to what they named; see Note [Kernels per device].
#include <csrc/debug/python_stub_calls.h>

#include <ATen/core/dispatch/DispatchStubImpl.h>

#include <mutex>
#include <set>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace reftorch::torch::debug {
namespace {

std::mutex calls_mutex; // kernels may call stubs on other threads
std::set<std::string> calls;

void note_call(const at::native::DispatchStubImpl& stub) {
  const std::lock_guard<std::mutex> lock(calls_mutex);
  calls.insert(stub.name);
}

std::set<std::string> take_calls() {
  const std::lock_guard<std::mutex> lock(calls_mutex);
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
        "Record which stubs are called, or stop. Returns whether this build can: a Release build cannot.");
  m.def("take_stub_calls", &take_calls, "The names of the stubs that were called since the last time.");
}

} // namespace reftorch::torch::debug
