// Mirrors: torch/csrc/autograd/init.cpp
// Left out: inference mode, profiler, forward-mode levels, saved-tensor hooks.
#include <csrc/autograd/python_autograd.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_engine.h>
#include <csrc/autograd/python_formula.h>
#include <csrc/autograd/python_function.h>
#include <csrc/autograd/python_variable_properties.h>

#include <c10/core/GradMode.h>

namespace reftorch::torch {

static PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::GradMode::is_enabled());
}

static PyObject* set_grad_enabled(PyObject*, PyObject* enabled) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyBool_Check(enabled), "set_grad_enabled(): argument 'enabled' must be bool, not ",
                   Py_TYPE(enabled)->tp_name);
  c10::GradMode::set_enabled(enabled == Py_True);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyMethodDef grad_mode_functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether ops of this thread are recorded."},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {}};

void initAutogradBindings(PyObject* module) {
  if (PyModule_AddFunctions(module, grad_mode_functions) < 0) {
    throw_python_error();
  }
  autograd::initVariableMethods();
  autograd::initCppFunction(module);
  autograd::initFunction(module);
  autograd::initFormulas(module);
  autograd::initEngine(module);
}

} // namespace reftorch::torch
