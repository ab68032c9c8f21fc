// Mirrors: torch/csrc/utils/python_dispatch.cpp
//
// Calls Python functions before and after every op. Left out: modes that replace what an op does.
#include <csrc/debug/python_op_observer.h>

#include <csrc/Exceptions.h>
#include <csrc/python_conversions.h>
#include <csrc/python_gil.h>
#include <csrc/utils/object_ptr.h>

#include <ATen/record_function.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch::debug {
namespace {

class PyOpObserver final : public at::OpObserver {
 public:
  PyOpObserver(py::object start, py::object end) : start_(start.release().ptr()), end_(end.release().ptr()) {}

  ~PyOpObserver() override {
    decref_anywhere(start_);
    decref_anywhere(end_);
  }

  void start(const at::OperatorHandle& op, const at::Stack& stack) override {
    const GilAcquire gil;
    call(start_, op, values(op.schema().arguments, stack));
  }

  void end(const at::OperatorHandle& op, const at::Stack* stack) override {
    const GilAcquire gil;
    call(end_, op, stack == nullptr ? py::object(py::none()) : values(op.schema().returns, *stack));
  }

 private:
  // Returns the last values of the stack, one for each of `declared`.
  static py::tuple values(const std::vector<at::Argument>& declared, const at::Stack& stack) {
    const at::IValue* first = at::last(stack, declared.size());
    py::tuple result(declared.size());
    for (size_t i = 0; i < declared.size(); i++) {
      result[i] = steal(wrap_ivalue(first[i], declared[i].type));
    }
    return result;
  }

  static void call(PyObject* callback, const at::OperatorHandle& op, const py::object& values) {
    const std::string name = op.schema().operator_name();
    steal(PyObject_CallFunction(callback, "sO", name.c_str(), values.ptr()));
  }

  PyObject* start_;
  PyObject* end_;
};

} // namespace

void init_op_observer_bindings(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  m.def(
      "set_op_observer",
      [](py::object start, py::object end) {
        at::set_op_observer(std::make_shared<PyOpObserver>(std::move(start), std::move(end)));
      },
      py::arg("start"), py::arg("end"),
      "Call start(op, arguments) before and end(op, results) after each op that this thread calls.");
  m.def("clear_op_observer", &at::clear_op_observer);
}

} // namespace reftorch::torch::debug
