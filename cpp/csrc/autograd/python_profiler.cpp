// Mirrors: torch/csrc/autograd/init.cpp (the profiler's part)
#include <csrc/autograd/python_profiler.h>

#include <csrc/utils/pybind.h>

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/function.h>

#include <memory>

namespace py = pybind11;

namespace reftorch::torch::autograd {

// Turns the profiler off and returns a tuple for each event: name, start and end in ns, parent, thread, sequence_nr,
// cpu_memory, shapes, is_backward, is_async.
static py::list disable() {
  py::list events;
  for (const at::RecordedEvent& event : at::disable_profiler()) {
    py::list shapes;
    for (const at::DimVector& shape : event.shapes) {
      shapes.append(py::cast(std::vector<int64_t>(shape.begin(), shape.end())));
    }
    events.append(py::make_tuple(event.name, event.start_ns, event.end_ns, event.parent, event.thread,
                                 event.sequence_nr, event.cpu_memory, shapes, event.is_backward, event.is_async));
  }
  return events;
}

void initProfiler(PyObject* module) {
  at::next_sequence_nr = []() -> int64_t {
    return c10::GradMode::is_enabled() ? static_cast<int64_t>(Node::peek_sequence_nr()) : -1;
  };
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<at::RecordFunction>(m, "_RecordFunction", "An event that lasts as long as this object.")
      .def(py::init([](const std::string& name) { return std::make_unique<at::RecordFunction>(name); }));
  m.def(
      "_enable_profiler",
      [](bool record_shapes, bool profile_memory) { at::enable_profiler({record_shapes, profile_memory}); },
      py::arg("record_shapes"), py::arg("profile_memory"));
  m.def("_disable_profiler", &disable);
  m.def("_profiler_enabled", &at::RecordFunction::is_enabled);
}

} // namespace reftorch::torch::autograd
