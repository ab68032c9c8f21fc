// Mirrors: torch/csrc/autograd/python_saved_variable_hooks.cpp, torch/csrc/autograd/init.cpp (SavedTensor)
#include <csrc/autograd/python_saved_variable_hooks.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_gil.h>
#include <csrc/python_thread_local_state.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

// A Python object that may be dropped on any thread, also after the interpreter has ended.
using SharedPyObject = std::shared_ptr<PyObject>;

SharedPyObject share(const py::object& obj) {
  return share_object(py::object(obj).release().ptr());
}

struct PySavedVariableHooks final : public SavedVariableHooks {
  PySavedVariableHooks(SharedPyObject pack, SharedPyObject unpack)
      : pack_hook(std::move(pack)), unpack_hook(std::move(unpack)) {}

  void call_pack_hook(const Variable& tensor) override {
    const GilAcquire gil;
    const py::object obj = py::cast(tensor);
    data = share_object(PyObject_CallOneArg(pack_hook.get(), obj.ptr()));
    pack_hook.reset();
  }

  Variable call_unpack_hook() override {
    const GilAcquire gil;
    const py::object result = steal(PyObject_CallOneArg(unpack_hook.get(), data.get()));
    TORCH_CHECK_TYPE(THPVariable_Check(result.ptr()),
                     "Output of saved tensor unpack_hook expected to be a Tensor but "
                     "got result of type ",
                     Py_TYPE(result.ptr())->tp_name);
    return THPVariable_Unpack(result.ptr());
  }

  void visit_owned(OwnedVisitor& visitor) const override {
    SavedVariableHooks::visit_owned(visitor);
    for (const SharedPyObject* held : {&unpack_hook, &data}) {
      if (*held != nullptr && held->use_count() == 1) {
        visitor.py_object(held->get());
      }
    }
  }

  SharedPyObject pack_hook;
  SharedPyObject unpack_hook;
  SharedPyObject data; // the result of the pack hook
};

void check_callable(const char* function, const py::object& pack, const py::object& unpack) {
  TORCH_CHECK_TYPE(PyCallable_Check(pack.ptr()) && PyCallable_Check(unpack.ptr()), function,
                   ": expected two callables, pack_hook and unpack_hook, but got ", Py_TYPE(pack.ptr())->tp_name,
                   " and ", Py_TYPE(unpack.ptr())->tp_name);
}

void push_default_hooks(const py::object& pack, const py::object& unpack) {
  check_callable("saved_tensors_hooks", pack, unpack);
  SavedTensorDefaultHooks::push_hooks(
      [pack = share(pack), unpack = share(unpack)] { return std::make_shared<PySavedVariableHooks>(pack, unpack); });
}

const PySavedVariableHooks* hooks_of(const SavedVariable& saved) {
  return dynamic_cast<const PySavedVariableHooks*>(saved.hooks());
}

py::object borrow(const SharedPyObject& held) {
  return held != nullptr ? py::reinterpret_borrow<py::object>(held.get()) : py::object(py::none());
}

void register_hooks(SavedVariable& saved, const py::function& pack, const py::function& unpack) {
  saved.register_hooks(std::make_shared<PySavedVariableHooks>(share(pack), share(unpack)));
}

} // namespace

PyObject* wrap_saved_tensors(const std::shared_ptr<Node>& owner, at::ArrayRef<SavedVariable> saved, bool as_tuple) {
  py::tuple tuple(saved.size());
  for (size_t i = 0; i < saved.size(); i++) {
    tuple[i] = py::cast(std::shared_ptr<SavedVariable>(owner, const_cast<SavedVariable*>(&saved[i])));
  }
  return as_tuple ? tuple.release().ptr() : py::object(tuple[0]).release().ptr();
}

void initSavedVariableHooks(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<SavedVariable, std::shared_ptr<SavedVariable>>(m, "SavedTensor")
      .def("register_hooks", &register_hooks, py::arg("pack_hook"), py::arg("unpack_hook"),
           "register_hooks(pack_hook, unpack_hook): keep the result of pack_hook in place of the tensor.")
      .def(py::init([]() -> std::shared_ptr<SavedVariable> {
        TORCH_CHECK(false,
                    "Trying to create a SavedTensor object from Python is forbidden. Hint: grad_fn._raw_saved_* "
                    "are such objects.");
      }))
      .def(
          "unpack", [](const SavedVariable& saved) { return saved.unpack(); },
          "Return the tensor as it was saved. Raises RuntimeError if the tensor was freed or was changed in place "
          "since.")
      .def_property_readonly(
          "data",
          [](const SavedVariable& saved) {
            const PySavedVariableHooks* hooks = hooks_of(saved);
            return hooks != nullptr ? borrow(hooks->data) : py::object(py::cast(saved.data()));
          },
          "The tensor, without a check for in-place changes, or the result of pack_hook; None if it was freed.")
      .def_property_readonly(
          "unpack_hook",
          [](const SavedVariable& saved) {
            const PySavedVariableHooks* hooks = hooks_of(saved);
            return hooks != nullptr ? borrow(hooks->unpack_hook) : py::object(py::none());
          },
          "The function that makes a tensor from ``data`` again; None if there are no hooks.");
  m.def(
      "_make_saved_tensor",
      [](const Variable& tensor, bool is_output) { return std::make_shared<SavedVariable>(tensor, is_output); },
      py::arg("tensor"), py::arg("is_output"), "Save a tensor as an op saves it for backward, hooks included.");
  m.def("_push_saved_tensors_default_hooks", &push_default_hooks);
  m.def("_pop_saved_tensors_default_hooks", &SavedTensorDefaultHooks::pop_hooks);
  m.def("_saved_tensors_hooks_is_enabled",
        [] { return !SavedTensorDefaultHooks::disabled_error_message().has_value(); });
  m.def("_saved_tensors_hooks_enable", &SavedTensorDefaultHooks::enable);
  m.def("_saved_tensors_hooks_disable", &SavedTensorDefaultHooks::disable);
  m.def("_saved_tensors_hooks_get_disabled_error_message", &SavedTensorDefaultHooks::disabled_error_message);
}

} // namespace reftorch::torch::autograd
