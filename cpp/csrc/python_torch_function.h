// Mirrors: torch/csrc/utils/disable_torch_function.h, torch/csrc/utils/python_arg_parser.h
//
// Note [torch_function]
// Problem: a class may define __torch_function__(func, types, args, kwargs) and be asked instead of the op, whether it
// is a tensor's subclass or only looks like a tensor; and programs that have no such class must not pay. Trick: an
// argument that is exactly a Tensor or a Parameter has no override, which one comparison of its type tells. Everything
// else (numbers, lists, subclasses) is looked at behind that comparison. Who is asked: first the innermost mode
// (TorchFunctionMode), which is taken off the stack for as long as it answers; then each argument with an override, a
// subclass before its base, else from left to right, until one does not answer NotImplemented. Formulas of derivatives
// run with all of it off: for the user they are part of an op.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/python_variable.h>
#include <csrc/python_dispatch.h>
#include <csrc/utils/python_arg_parser.h>

#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace reftorch::torch {

extern PyObject* THPParameterClass; // reftorch.nn.Parameter, whose __torch_function__ is disabled

struct TorchFunctionState {
  enum class Enabled : uint8_t { All, Modes, None };
  Enabled enabled = Enabled::All;
  bool has_modes = false; // the stack is not empty
};
inline thread_local TorchFunctionState torch_function_state;

inline bool torch_function_mode_enabled() {
  return __builtin_expect(torch_function_state.has_modes, 0) &&
         torch_function_state.enabled != TorchFunctionState::Enabled::None;
}

// Turns overrides off for as long as it lives.
class DisableTorchFunction final {
 public:
  explicit DisableTorchFunction(TorchFunctionState::Enabled still = TorchFunctionState::Enabled::None)
      : saved_(torch_function_state.enabled) {
    torch_function_state.enabled = still;
  }
  ~DisableTorchFunction() {
    torch_function_state.enabled = saved_;
  }
  DisableTorchFunction(const DisableTorchFunction&) = delete;
  DisableTorchFunction& operator=(const DisableTorchFunction&) = delete;

 private:
  TorchFunctionState::Enabled saved_;
};

bool slow_has_torch_function(PyObject* obj);
// Whether the object's class overrides ops. It may be anything; nothing is raised.
inline bool check_has_torch_function(PyObject* obj) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(obj));
  return type != THPVariableClass && type != THPParameterClass && slow_has_torch_function(obj);
}
// The same of a tensor of which a method or property is asked for, where a mode counts too.
inline bool self_has_torch_function(PyObject* self) {
  return torch_function_mode_enabled() || check_has_torch_function(self);
}
bool slow_argument_has_torch_function(PyObject* obj);
// The same of an argument: what a list or tuple holds counts too.
inline bool argument_has_torch_function(PyObject* obj) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(obj));
  return type != THPVariableClass && type != THPParameterClass && slow_argument_has_torch_function(obj);
}

// The arguments to ask, in order, each class once: borrowed.
using OverloadedArgs = std::vector<PyObject*>;
void append_overloaded_args(OverloadedArgs& overloaded, PyObject* argument);

// Asks the modes and `overloaded` about func(*args, **kwargs); kwargs may be null. A new reference; throws
// python_error, and TypeError where nobody answers. `name` is what the message calls the function.
PyObject* handle_torch_function(PyObject* func, PyObject* args, PyObject* kwargs, const OverloadedArgs& overloaded,
                                const char* name);
// The same of a method or property of a tensor, by its attribute of the class Tensor; `accessor`: __get__, __set__.
// Throws or returns null on failure.
PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute, PyObject* args, PyObject* kwargs,
                                        const char* accessor = nullptr);

PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute, std::initializer_list<PyObject*> others);
// The same of an op's call, and of an operator, for which Py_NotImplemented says that nobody answered.
PyObject* handle_torch_function_of_call(PyObject* func, const PythonArgs& call, const char* name);
PyObject* handle_torch_function_of_operator(const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs);

// ---- methods and properties in C: a definition, and one in its place that asks first

// `def` must live as long as the type.
PyGetSetDef overridable(const PyGetSetDef& def);

PyObject* call_overridable(const PyMethodDef& def, PyObject* self, PyObject* args, PyObject* kwargs);

template <const auto& defs, size_t i>
PyMethodDef overridable_method() {
  PyMethodDef def = defs[i];
  const bool is_private = def.ml_name == nullptr || (def.ml_name[0] == '_' && def.ml_name[1] != '_');
  if (is_private || (def.ml_flags & METH_STATIC) != 0) {
    return def;
  }
  if ((def.ml_flags & METH_KEYWORDS) != 0) {
    const PyCFunctionWithKeywords method = [](PyObject* self, PyObject* args, PyObject* kwargs) {
      return call_overridable(defs[i], self, args, kwargs);
    };
    def.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
  } else {
    def.ml_meth = [](PyObject* self, PyObject* arg) { return call_overridable(defs[i], self, arg, nullptr); };
  }
  return def;
}

template <const auto& defs, size_t... i>
PyMethodDef* overridable_methods(std::index_sequence<i...>) {
  static PyMethodDef methods[] = {overridable_method<defs, i>()...};
  return methods;
}
template <const auto& defs>
PyMethodDef* overridable_methods() {
  return overridable_methods<defs>(std::make_index_sequence<std::size(defs)>());
}

void initTorchFunction(PyObject* module);

} // namespace reftorch::torch
