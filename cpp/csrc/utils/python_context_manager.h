// Mirrors: torch/csrc/utils/pybind.h (py_context_manager)
//
// Binds a C++ guard as a context manager of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace reftorch::torch {

// __enter__ makes a guard from the stored arguments, and __exit__ destroys the guard that was made last. Python can
// call both in any order: an __exit__ without an __enter__ does nothing, as in PyTorch, and an object can be entered
// several times, which PyTorch does not support.
template <typename Guard, typename... Args>
class py_context_manager {
 public:
  explicit py_context_manager(Args... args) : args_(std::move(args)...) {}
  py_context_manager(py_context_manager&&) = default;
  py_context_manager& operator=(py_context_manager&&) = default;
  ~py_context_manager() {
    while (!entered_.empty()) { // the last guard first, because each guard restores what it found
      entered_.pop_back();
    }
  }

  void enter() {
    entered_.push_back(std::apply([](const Args&... args) { return std::make_unique<Guard>(args...); }, args_));
  }
  void exit() {
    if (!entered_.empty()) {
      entered_.pop_back();
    }
  }

 private:
  std::tuple<Args...> args_;
  std::vector<std::unique_ptr<Guard>> entered_;
};

// Makes the class of a py_context_manager.
template <typename Manager>
pybind11::class_<Manager> bind_context_manager(pybind11::module_& m, const char* name, const char* doc) {
  return pybind11::class_<Manager>(m, name, doc)
      .def("__enter__", [](Manager& self) { self.enter(); })
      .def("__exit__", [](Manager& self, const pybind11::args&) { self.exit(); });
}

} // namespace reftorch::torch
