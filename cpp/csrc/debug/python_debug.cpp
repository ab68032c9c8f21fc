// Mirrors: nothing in PyTorch: the native half of reftorch.debug.
//
// Binds the functions of csrc/debug. Left out: everything that Python or gdb can do alone.
#include <csrc/debug/python_debug.h>

#include <pybind11/pybind11.h>

#include <csrc/debug/call_tree.h>
#include <csrc/debug/hooks.h>
#include <csrc/debug/leftover_breakpoints.h>
#include <csrc/debug/python_call_tree.h>
#include <csrc/debug/python_op_observer.h>
#include <csrc/debug/python_stub_calls.h>

#include <dlfcn.h>

namespace py = pybind11;

namespace reftorch::torch::debug {
namespace {

std::uintptr_t library_base() {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(&reftorch_debug_sentinel), &info)
             ? reinterpret_cast<std::uintptr_t>(info.dli_fbase)
             : 0;
}

void start(std::size_t max_calls) {
  start_call_tree(max_calls);
  start_python_calls();
}

// Returns [(lost, [(depth, count, key), ...]), ...] with one entry for each thread. The key is a code object, or the
// offset of a function in the library.
py::list stop() {
  stop_python_calls();
  const auto base = library_base();
  py::list threads;
  for (const ThreadCalls& thread : stop_call_tree()) {
    py::list calls(thread.calls.size());
    std::size_t i = 0;
    for (const Call& call : thread.calls) {
      py::object key;
      if (is_python_call(call)) {
        key = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(call.function & ~kPythonCall));
      } else {
        key = py::int_(call.function - base);
      }
      calls[i++] = py::make_tuple(call.depth, call.count, std::move(key));
    }
    threads.append(py::make_tuple(thread.lost, std::move(calls)));
  }
  release_python_calls();
  return threads;
}

} // namespace

void init_debug_bindings(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module).def_submodule("_debug", "The native half of reftorch.debug.");
  m.def("start_call_tree", &start, py::arg("max_calls"));
  m.def("stop_call_tree", &stop);
  m.def("sentinel", &reftorch_debug_sentinel);
  m.def("py_stack", &reftorch_debug_py_stack);
  m.def("allow_ptrace", &allow_ptrace, py::arg("tracer"));
  m.def("guard_breakpoints", &guard_breakpoints, py::arg("on"));
  m.def("mend_breakpoints", &mend_breakpoints);
  init_op_observer_bindings(m.ptr());
  init_stub_call_bindings(m.ptr());
  allow_ptrace_if_asked();
}

} // namespace reftorch::torch::debug
