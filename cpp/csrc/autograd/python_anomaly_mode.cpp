// Mirrors: torch/csrc/autograd/python_anomaly_mode.cpp
#include <csrc/autograd/python_anomaly_mode.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {

PyAnomalyMetadata::PyAnomalyMetadata() {
  const GilAcquire gil;
  dict = PyDict_New();
  if (dict == nullptr) {
    throw_python_error();
  }
}

PyAnomalyMetadata::~PyAnomalyMetadata() {
  decref_anywhere(dict);
}

PyObject* PyAnomalyMetadata::dict_of(Node& node) {
  return Py_NewRef(static_cast<PyAnomalyMetadata*>(node.metadata())->dict);
}

void PyAnomalyMetadata::store_stack() {
  const GilAcquire gil;
  py::reinterpret_borrow<py::dict>(dict)[kTracebackKey] = py::module_::import("traceback").attr("format_stack")();
}

void PyAnomalyMetadata::assign_parent(const std::shared_ptr<Node>& parent) {
  if (parent == nullptr) {
    return;
  }
  const GilAcquire gil;
  py::reinterpret_borrow<py::dict>(dict)[kParentKey] = steal(functionToPyObject(parent));
}

// Warns. An error is being handled already, so an exception of the warning itself (under -W error) is reported as
// unraisable and goes no further.
static void warn(const std::string& message) {
  try {
    TORCH_WARN(message);
  } catch (...) {
    translate_current_exception();
    PyErr_WriteUnraisable(nullptr);
  }
}

static std::string traceback_of(const py::dict& metadata) {
  return metadata.contains(PyAnomalyMetadata::kTracebackKey)
             ? std::string(py::str(py::str("").attr("join")(metadata[PyAnomalyMetadata::kTracebackKey])))
             : std::string();
}

void PyAnomalyMetadata::print_stack(const std::string& node_name) {
  const GilAcquire gil;
  try {
    auto metadata = py::reinterpret_borrow<py::dict>(dict);
    std::string stack = traceback_of(metadata);
    if (stack.empty()) {
      warn("Error detected in " + node_name +
           ". No forward pass information available. Enable detect anomaly during forward pass for more information.");
      return;
    }
    warn("Error detected in " + node_name + ". Traceback of forward call that caused the error:\n" + stack);
    while (metadata.contains(kParentKey)) {
      const py::object parent = metadata[kParentKey];
      const std::string parent_name = py::str(parent.attr("name")());
      metadata = py::dict(parent.attr("metadata"));
      stack = traceback_of(metadata);
      if (stack.empty()) {
        warn("\n\nPrevious calculation was induced by " + parent_name +
             ". No forward pass information available. Enable detect anomaly during forward pass for more "
             "information.");
        return;
      }
      warn("\n\nPrevious calculation was induced by " + parent_name +
           ". Traceback of forward call that induced the previous calculation:\n" + stack);
    }
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("anomaly mode's report");
  }
}

void initAnomalyMode(PyObject* module) {
  make_anomaly_metadata = []() -> std::unique_ptr<AnomalyMetadata> { return std::make_unique<PyAnomalyMetadata>(); };
  auto m = py::reinterpret_borrow<py::module_>(module);
  m.def("is_anomaly_enabled", &AnomalyMode::is_enabled, "Return whether anomaly detection is on.");
  m.def("is_anomaly_check_nan_enabled", &AnomalyMode::should_check_nan,
        "Return whether anomaly detection looks for NaN.");
  m.def("set_anomaly_enabled", &AnomalyMode::set_enabled, py::arg("enabled"), py::arg("check_nan") = true,
        "Turn anomaly detection on or off, for all threads.");
}

} // namespace reftorch::torch::autograd
