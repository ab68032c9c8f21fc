// Mirrors: torch/csrc/autograd/python_hook.h
//
// Hooks that are written in Python. Each C++ hook owns a dict of Python functions: an OrderedDict with ids as keys, so
// that a RemovableHandle can remove one function.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function.h>
#include <csrc/python_gil.h>

namespace reftorch::torch::autograd {

// A hook of the kind `Hook` that owns a dict of Python functions. It is destroyed with its node, on any thread, and
// perhaps after the interpreter has ended.
template <typename Hook>
class PyHook : public Hook {
 public:
  explicit PyHook(PyObject* dict) : dict_(Py_NewRef(dict)) {}
  ~PyHook() override {
    decref_anywhere(dict_);
  }
  PyHook(const PyHook&) = delete;
  PyHook& operator=(const PyHook&) = delete;

  PyObject* dict() const {
    return dict_;
  }
  void visit_owned(OwnedVisitor& visitor) const override {
    visitor.py_object(dict_);
  }

 private:
  PyObject* const dict_;
};

// The hooks of Tensor.register_hook: hook(grad) with gradient number `value_idx`. The tensor's Python object owns the
// same dict, as `_backward_hooks`.
class PyFunctionTensorPreHook final : public PyHook<FunctionPreHook> {
 public:
  PyFunctionTensorPreHook(PyObject* dict, uint32_t value_idx) : PyHook(dict), value_idx_(value_idx) {}
  variable_list operator()(const variable_list& grads) override;

 private:
  uint32_t value_idx_;
};

// The hooks of Node.register_prehook: hook(grad_outputs).
class PyFunctionPreHook final : public PyHook<FunctionPreHook> {
 public:
  using PyHook::PyHook;
  variable_list operator()(const variable_list& grads) override;
};

// The hooks of Node.register_hook: hook(grad_inputs, grad_outputs).
class PyFunctionPostHook final : public PyHook<FunctionPostHook> {
 public:
  using PyHook::PyHook;
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override;
};

// The hooks of Tensor.register_post_accumulate_grad_hook: hook(tensor).
class PyFunctionTensorPostAccGradHooks final : public PyHook<PostAccumulateGradHook> {
 public:
  using PyHook::PyHook;
  void operator()(const Variable& tensor) override;
};

// Puts `hook` into a dict of hooks and returns the RemovableHandle for the hook, a new reference. Throws python_error.
PyObject* add_to_hook_dict(PyObject* hook, PyObject* dict);
// Makes a dict that holds `hook`. Returns the RemovableHandle for the hook and stores the dict in `dict`; both are new
// references. Throws python_error.
PyObject* make_hook_dict(PyObject* hook, PyObject** dict);
// Returns a tuple of tensors, with None for an undefined tensor. A new reference; throws python_error.
PyObject* wrap_variables(const variable_list& variables);

} // namespace reftorch::torch::autograd
