// Mirrors: torch/csrc/autograd/init.cpp (the profiler's part)
#include <csrc/autograd/python_profiler.h>

#include <csrc/profiler/python_frames.h>
#include <csrc/profiler/util.h>
#include <csrc/utils/pybind.h>

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <csrc/autograd/function.h>

#include <memory>

namespace py = pybind11;

namespace reftorch::torch::autograd {

// Turns the profiler off and returns a dict for each event.
static py::list disable() {
  py::list events;
  for (const at::RecordedEvent& event : at::disable_profiler()) {
    py::list shapes;
    for (const at::DimVector& shape : event.shapes) {
      shapes.append(py::cast(std::vector<int64_t>(shape.begin(), shape.end())));
    }
    py::list stack;
    for (const std::string& line : event.stack) {
      stack.append(py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(line.c_str())));
    }
    py::dict fields;
    fields["name"] = event.name;
    fields["start_ns"] = event.start_ns;
    fields["end_ns"] = event.end_ns;
    fields["parent"] = event.parent;
    fields["thread"] = event.thread;
    fields["sequence_nr"] = event.sequence_nr;
    fields["cpu_memory"] = event.cpu_memory;
    fields["device_memory"] = event.device_memory;
    fields["flops"] = event.flops;
    fields["shapes"] = shapes;
    fields["stack"] = stack;
    fields["is_backward"] = event.is_backward;
    fields["is_async"] = event.is_async;
    events.append(fields);
  }
  return events;
}

void initProfiler(PyObject* module) {
  at::profiler_hooks.python_stack = &profiler::python_stack;
  at::profiler_hooks.flops = &profiler::compute_flops;
  at::profiler_hooks.next_sequence_nr = []() -> int64_t {
    return c10::GradMode::is_enabled() ? static_cast<int64_t>(Node::peek_sequence_nr()) : -1;
  };
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<at::RecordFunction>(m, "_RecordFunction", "An event that lasts as long as this object.")
      .def(py::init([](const std::string& name) { return std::make_unique<at::RecordFunction>(name); }));
  m.def(
      "_enable_profiler",
      [](bool record_shapes, bool profile_memory, bool with_stack, bool with_flops) {
        return at::enable_profiler({record_shapes, profile_memory, with_stack, with_flops});
      },
      py::arg("record_shapes"), py::arg("profile_memory"), py::arg("with_stack"), py::arg("with_flops"));
  m.def("_disable_profiler", &disable);
  m.def("_profiler_enabled", &at::RecordFunction::is_enabled);
}

} // namespace reftorch::torch::autograd
