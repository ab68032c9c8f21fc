// Mirrors: torch/csrc/utils/disable_torch_function.h, torch/csrc/utils/python_arg_parser.h
//
// Note [torch_function]
// Problem: a class may define __torch_function__(func, types, args, kwargs), which is then called in place of an op.
// The class may be a subclass of Tensor or only resemble a tensor. Programs without such a class must not pay for this.
// Trick: an argument that is exactly a Tensor or a Parameter has no override, which one comparison of its type shows.
// All other arguments (numbers, lists, subclasses) are examined only after that comparison. The innermost mode
// (TorchFunctionMode) is called first, and is off the stack during this call. Then each argument with an override is
// called, a subclass before its base and otherwise from left to right, until one does not return NotImplemented. The
// formulas of derivatives run with all overrides off, because for the user they are part of an op.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/python_variable.h>
#include <csrc/python_dispatch.h>
#include <csrc/utils/python_arg_parser.h>

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace reftorch::torch {

extern PyObject* THPParameterClass; // reftorch.nn.Parameter, whose __torch_function__ is disabled

struct TorchFunctionState {
  enum class Enabled : uint8_t { All, Modes, None };
  Enabled enabled = Enabled::All;
  bool has_modes = false; // whether the stack of modes is not empty
};
inline thread_local TorchFunctionState torch_function_state;

inline bool torch_function_mode_enabled() {
  return __builtin_expect(torch_function_state.has_modes, 0) &&
         torch_function_state.enabled != TorchFunctionState::Enabled::None;
}

// Turns overrides off for the lifetime of the guard. `still` says which overrides are called nevertheless.
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
// Returns whether the class of an object overrides ops. The object may be of any type; no error is raised.
inline bool check_has_torch_function(PyObject* obj) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(obj));
  return type != THPVariableClass && type != THPParameterClass && slow_has_torch_function(obj);
}
// Returns whether a method or property of `self` is overridden, either by the class of `self` or by a mode.
inline bool self_has_torch_function(PyObject* self) {
  return torch_function_mode_enabled() || check_has_torch_function(self);
}
bool slow_argument_has_torch_function(PyObject* obj);
// Returns whether an argument overrides ops. For a list or tuple, its items count too.
inline bool argument_has_torch_function(PyObject* obj) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(obj));
  return type != THPVariableClass && type != THPParameterClass && slow_argument_has_torch_function(obj);
}

// The arguments whose __torch_function__ (or __torch_dispatch__) is called, in order: one for each class, a subclass
// before its base. The references are borrowed.
using OverloadedArgs = std::vector<PyObject*>;
// Inserts an object that has an override, unless an object of its class is in the list already.
void append_overloaded_arg(OverloadedArgs& overloaded, PyObject* obj);
// Inserts an argument if it has an override. For a list or tuple, inserts its items.
void append_overloaded_args(OverloadedArgs& overloaded, PyObject* argument);

// Throws a RuntimeError if the method `name` of a mode, which overrides ops, is a class method.
void check_mode_is_no_class(PyObject* mode, PyObject* name);
// Calls func(*args, **kwargs) for an override that is turned off. `all` holds the override's arguments (func, types,
// args, kwargs), and `format` parses them. Returns a new reference, or null with a Python error set.
PyObject* call_disabled_override(PyObject* all, const char* format);

// Calls the __torch_function__ of the innermost mode and of `overloaded` for func(*args, **kwargs); kwargs may be null.
// Returns a new reference. Throws python_error, and a TypeError if all of them return NotImplemented. `name` is the
// name of the function in the message.
PyObject* handle_torch_function(PyObject* func, PyObject* args, PyObject* kwargs, const OverloadedArgs& overloaded,
                                const char* name);
// Like handle_torch_function, for a method or property of a tensor: the function is an attribute of the class Tensor.
// `accessor` is __get__ or __set__ for a property. Throws, or returns null, on failure.
PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute, PyObject* args, PyObject* kwargs,
                                        const char* accessor = nullptr);

PyObject* handle_torch_function_of_self(PyObject* self, const char* attribute, std::initializer_list<PyObject*> others);
// Like handle_torch_function, for the call of an op, and for an operator. The second returns Py_NotImplemented if all
// overrides return NotImplemented.
PyObject* handle_torch_function_of_call(PyObject* func, const PythonArgs& call, const char* name);
PyObject* handle_torch_function_of_operator(const OperatorNames& names, PyObject* const* args, Py_ssize_t nargs);

// ---- methods and properties that are C functions: makes a definition whose function looks for overrides first

// `def` must live as long as the type.
PyGetSetDef overridable(const PyGetSetDef& def);

// Calls the override that self_has_torch_function has found for a method. If the method takes exactly one argument,
// `args` is this argument. Otherwise `args` is a tuple or null.
PyObject* call_override_of_method(const PyMethodDef& def, PyObject* self, PyObject* args, PyObject* kwargs);

// Returns whether a method calls no override: static and private methods, and as_subclass, whose result the default
// __torch_function__ would convert back to the class of `self`.
inline bool is_never_overridden(const PyMethodDef& def) {
  return def.ml_name == nullptr || (def.ml_name[0] == '_' && def.ml_name[1] != '_') ||
         (def.ml_flags & METH_STATIC) != 0 || std::strcmp(def.ml_name, "as_subclass") == 0;
}

template <const auto& defs, size_t i>
PyMethodDef overridable_method() {
  PyMethodDef def = defs[i];
  if (is_never_overridden(def)) {
    return def;
  }
  if ((def.ml_flags & METH_KEYWORDS) != 0) {
    const PyCFunctionWithKeywords method = [](PyObject* self, PyObject* args, PyObject* kwargs) {
      if (self_has_torch_function(self)) {
        return call_override_of_method(defs[i], self, args, kwargs);
      }
      return reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(defs[i].ml_meth))(self, args,
                                                                                                      kwargs);
    };
    def.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
  } else {
    def.ml_meth = [](PyObject* self, PyObject* arg) {
      return self_has_torch_function(self) ? call_override_of_method(defs[i], self, arg, nullptr)
                                           : defs[i].ml_meth(self, arg);
    };
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
