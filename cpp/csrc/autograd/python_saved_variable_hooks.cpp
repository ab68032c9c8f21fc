// Mirrors: torch/csrc/autograd/python_saved_variable_hooks.cpp, torch/csrc/autograd/init.cpp (SavedTensor)
#include <csrc/autograd/python_saved_variable_hooks.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_gil.h>
#include <csrc/utils/pybind.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

// Dropped on any thread, also after the interpreter.
using SharedPyObject = std::shared_ptr<PyObject>;

SharedPyObject share(const py::object& obj) {
  return SharedPyObject(py::object(obj).release().ptr(), [](PyObject* held) {
    if (Py_IsInitialized()) {
      const GilAcquire gil;
      Py_DECREF(held);
    }
  });
}

py::object call(const SharedPyObject& hook, PyObject* arg) {
  PyObject* result = PyObject_CallOneArg(hook.get(), arg);
  if (result == nullptr) {
    throw_python_error();
  }
  return py::reinterpret_steal<py::object>(result);
}

struct PySavedVariableHooks final : public SavedVariableHooks {
  PySavedVariableHooks(SharedPyObject pack, SharedPyObject unpack)
      : pack_hook(std::move(pack)), unpack_hook(std::move(unpack)) {}

  void call_pack_hook(const Variable& tensor) override {
    const GilAcquire gil;
    const py::object obj = py::cast(tensor);
    data = share(call(pack_hook, obj.ptr()));
    pack_hook.reset();
  }

  Variable call_unpack_hook() override {
    const GilAcquire gil;
    const py::object result = call(unpack_hook, data.get());
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
  SharedPyObject data; // what pack made of the tensor
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
           "register_hooks(pack_hook, unpack_hook): keep what pack_hook makes of the tensor in its place.")
      .def(py::init([]() -> std::shared_ptr<SavedVariable> {
        TORCH_CHECK(false,
                    "Trying to create a SavedTensor object from Python is forbidden. Hint: grad_fn._raw_saved_* "
                    "are such objects.");
      }))
      .def(
          "unpack", [](const SavedVariable& saved) { return saved.unpack(); },
          "The tensor, as it was saved. RuntimeError if it was freed, or changed in place since.")
      .def_property_readonly(
          "data",
          [](const SavedVariable& saved) {
            const PySavedVariableHooks* hooks = hooks_of(saved);
            return hooks != nullptr ? borrow(hooks->data) : py::object(py::cast(saved.data()));
          },
          "What is kept: the tensor, whatever happened to it since, or what pack_hook made of it; None once freed.")
      .def_property_readonly(
          "unpack_hook",
          [](const SavedVariable& saved) {
            const PySavedVariableHooks* hooks = hooks_of(saved);
            return hooks != nullptr ? borrow(hooks->unpack_hook) : py::object(py::none());
          },
          "What makes a tensor of it again; None where nothing was packed.");
  m.def(
      "_make_saved_tensor",
      [](const Variable& tensor, bool is_output) { return std::make_shared<SavedVariable>(tensor, is_output); },
      py::arg("tensor"), py::arg("is_output"), "Keep a tensor as an op keeps it for backward, hooks and all.");
  m.def("_push_saved_tensors_default_hooks", &push_default_hooks);
  m.def("_pop_saved_tensors_default_hooks", &SavedTensorDefaultHooks::pop_hooks);
  m.def("_saved_tensors_hooks_is_enabled",
        [] { return !SavedTensorDefaultHooks::disabled_error_message().has_value(); });
  m.def("_saved_tensors_hooks_enable", &SavedTensorDefaultHooks::enable);
  m.def("_saved_tensors_hooks_disable", &SavedTensorDefaultHooks::disable);
  m.def("_saved_tensors_hooks_get_disabled_error_message", &SavedTensorDefaultHooks::disabled_error_message);
}

} // namespace reftorch::torch::autograd
