// Mirrors: torch/csrc/autograd/functions/init.cpp
//
// Binds DelayedError and UndefinedGrad. Their objects are called with tensors and return the tensors behind a node.
// Left out: the other nodes of functions/, which only ops make.
#include <csrc/autograd/functions/python_basic_ops.h>

#include <csrc/autograd/functions/basic_ops.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

struct DelayedError {
  std::string message;
};
struct UndefinedGrad {};

// Returns one tensor for one argument and a tuple for several.
py::object put_all_behind(const std::shared_ptr<Node>& node, const py::args& tensors) {
  variable_list inputs;
  for (const py::handle tensor : tensors) {
    TORCH_CHECK_TYPE(tensor.is_none() || THPVariable_Check(tensor.ptr()), "expected a Tensor or None, but got ",
                     Py_TYPE(tensor.ptr())->tp_name);
    inputs.push_back(tensor.is_none() ? Variable() : THPVariable_Unpack(tensor.ptr()));
  }
  const variable_list outputs = put_behind(node, inputs);
  if (outputs.size() == 1) {
    return py::cast(outputs[0]);
  }
  py::tuple results(outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) {
    results[i] = py::cast(outputs[i]);
  }
  return results;
}

} // namespace

void initBasicOps(PyObject* module) {
  const auto m = py::reinterpret_borrow<py::module_>(module).attr("_functions");
  py::class_<DelayedError>(m, "DelayedError",
                           "Called with tensors, returns tensors that raise the message when a gradient arrives.")
      .def(py::init([](std::string message, int) { return DelayedError{std::move(message)}; }), py::arg("message"),
           py::arg("num_inputs"))
      .def("__call__", [](const DelayedError& self, const py::args& tensors) {
        return put_all_behind(std::make_shared<Error>(self.message), tensors);
      });
  py::class_<UndefinedGrad>(m, "UndefinedGrad", "Called with tensors, returns tensors that no gradient passes through.")
      .def(py::init<>())
      .def("__call__", [](const UndefinedGrad&, const py::args& tensors) {
        return put_all_behind(std::make_shared<UndefinedGradBackward>(), tensors);
      });
}

} // namespace reftorch::torch::autograd
