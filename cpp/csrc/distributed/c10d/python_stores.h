// Mirrors: torch/csrc/distributed/c10d/init.cpp
#pragma once

#include <csrc/distributed/c10d/Utils.h>

#include <pybind11/pybind11.h>

#include <optional>

namespace reftorch::c10d {

using OptionalTimeout = std::optional<Milliseconds>;

// Calls the function without the GIL, and returns its result.
template <typename Function>
auto without_gil(const Function& function) {
  const pybind11::gil_scoped_release release;
  return function();
}

// Add the stores, and the options of collectives, to the module _distributed_c10d.
void init_stores(PyObject* module);
void init_options(PyObject* module);

} // namespace reftorch::c10d
