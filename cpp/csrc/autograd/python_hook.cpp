// Mirrors: torch/csrc/autograd/python_hook.cpp
#include <csrc/autograd/python_hook.h>

#include <ATen/TensorUtils.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/variable.h>
#include <csrc/utils/object_ptr.h>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {

static std::string hook_name(py::handle hook) {
  return py::hasattr(hook, "__name__") ? std::string(py::str(hook.attr("__name__"))) : std::string(py::repr(hook));
}

// Returns a copy of the hooks as a list, because a hook may remove itself from the dict.
static py::list hooks_of(PyObject* dict) {
  return steal(PyDict_CheckExact(dict) ? PyDict_Values(dict) : PyMapping_Values(dict));
}

template <typename... Args>
static py::object call_hook(py::handle hook, const Args&... args) {
  return steal(PyObject_CallFunctionObjArgs(hook.ptr(), args.ptr()..., nullptr));
}

static void check_is_variable(py::handle hook, py::handle value) {
  TORCH_CHECK_TYPE(THPVariable_Check(value.ptr()), "expected Variable, but hook returned '",
                   Py_TYPE(value.ptr())->tp_name, "' (hook '", hook_name(hook), "')");
}

// Checks a gradient that a hook returned in place of `before`, and returns it.
static Variable unwrap(py::handle hook, py::handle value, const Variable& before) {
  if (value.is_none()) {
    return Variable();
  }
  TORCH_CHECK_TYPE(before.defined(), "can't replace a None gradient with a non-None value (hook '", hook_name(hook),
                   "')");
  check_is_variable(hook, value);
  const Variable& after = THPVariable_Unpack(value.ptr());
  TORCH_CHECK(after.scalar_type() == before.scalar_type(), "hook '", hook_name(hook),
              "' has changed the type of value (was ", at::detail::type_string(before), " got ",
              at::detail::type_string(after), ")");
  TORCH_CHECK(after.device() == before.device(), "hook '", hook_name(hook), "' has changed the device of value");
  TORCH_CHECK(after.sizes() == before.sizes(), "hook '", hook_name(hook), "' has changed the size of value (was ",
              before.sizes(), " got ", after.sizes(), ")");
  return after;
}

// Checks the gradients that a node's hook returned in place of `before`, a tuple of the same length, and returns them.
static variable_list unwrap_all(py::handle hook, py::handle value, const variable_list& before) {
  TORCH_CHECK_TYPE(PyTuple_Check(value.ptr()), "expected tuple, but hook returned '", Py_TYPE(value.ptr())->tp_name,
                   "' (hook '", hook_name(hook), "')");
  const auto values = py::reinterpret_borrow<py::tuple>(value);
  TORCH_CHECK(values.size() == before.size(), "hook '", hook_name(hook),
              "' has returned an incorrect number of values (got ", values.size(), ", but expected ", before.size(),
              ")");
  variable_list list;
  for (size_t i = 0; i < before.size(); i++) {
    list.push_back(unwrap(hook, values[i], before[i]));
  }
  return list;
}

static py::object wrap(const Variable& variable) {
  return steal(THPVariable_Wrap(variable));
}

PyObject* wrap_variables(const variable_list& variables) {
  py::tuple tuple(variables.size());
  for (size_t i = 0; i < variables.size(); i++) {
    tuple[i] = wrap(variables[i]);
  }
  return tuple.release().ptr();
}

variable_list PyFunctionTensorPreHook::operator()(const variable_list& grads) {
  variable_list results = grads;
  GilAcquire gil;
  for (py::handle hook : hooks_of(dict())) {
    const py::object replaced = call_hook(hook, wrap(results[value_idx_])); // the hook gets None if no gradient arrived
    if (!replaced.is_none()) {
      results[value_idx_] = unwrap(hook, replaced, results[value_idx_]);
    }
  }
  return results;
}

variable_list PyFunctionPreHook::operator()(const variable_list& grads) {
  variable_list results = grads;
  GilAcquire gil;
  for (py::handle hook : hooks_of(dict())) {
    const py::object replaced = call_hook(hook, steal(wrap_variables(results)));
    if (!replaced.is_none()) {
      results = unwrap_all(hook, replaced, results);
    }
  }
  return results;
}

variable_list PyFunctionPostHook::operator()(const variable_list& outputs, const variable_list& inputs) {
  variable_list results = outputs;
  GilAcquire gil;
  const py::object grad_outputs = steal(wrap_variables(inputs));
  for (py::handle hook : hooks_of(dict())) {
    const py::object replaced = call_hook(hook, steal(wrap_variables(results)), grad_outputs);
    if (!replaced.is_none()) {
      results = unwrap_all(hook, replaced, results);
    }
  }
  return results;
}

void PyFunctionTensorPostAccGradHooks::operator()(const Variable& tensor) {
  GilAcquire gil;
  const py::object leaf = wrap(tensor);
  for (py::handle hook : hooks_of(dict())) {
    const py::object result = call_hook(hook, leaf);
    if (result.is_none() || result.is(leaf)) {
      continue;
    }
    check_is_variable(hook, result);
    TORCH_CHECK(false, "Tensor post accumulate grad hooks should return None. But hook '", hook_name(hook),
                "' returned a tensor");
  }
}

PyObject* add_to_hook_dict(PyObject* hook, PyObject* dict) {
  const py::handle hooks = dict;
  py::object handle = py::module_::import("reftorch.utils.hooks").attr("RemovableHandle")(hooks);
  hooks[handle.attr("id")] = py::reinterpret_borrow<py::object>(hook);
  return handle.release().ptr();
}

PyObject* make_hook_dict(PyObject* hook, PyObject** dict) {
  py::object hooks = py::module_::import("collections").attr("OrderedDict")();
  PyObject* handle = add_to_hook_dict(hook, hooks.ptr());
  *dict = hooks.release().ptr();
  return handle;
}

} // namespace reftorch::torch::autograd
