// Mirrors: torch/csrc/autograd/python_hook.h
//
// Hooks written in Python. A C++ hook owns a dict of callables, an OrderedDict from ids, so that a RemovableHandle can
// take one callable out.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/function_hook.h>

namespace reftorch::torch::autograd {

// Tensor.register_hook: hook(grad) for gradient `value_idx`. The tensor's Python object owns the same dict, for
// `_backward_hooks`.
class PyFunctionTensorPreHook final : public FunctionPreHook {
 public:
  PyFunctionTensorPreHook(PyObject* dict, uint32_t value_idx);
  ~PyFunctionTensorPreHook() override;
  variable_list operator()(const variable_list& grads) override;
  void visit_owned(OwnedVisitor& visitor) const override;
  PyObject* dict() const {
    return dict_;
  }

 private:
  PyObject* dict_;
  uint32_t value_idx_;
};

// Node.register_prehook: hook(grad_outputs)
class PyFunctionPreHook final : public FunctionPreHook {
 public:
  explicit PyFunctionPreHook(PyObject* dict);
  ~PyFunctionPreHook() override;
  variable_list operator()(const variable_list& grads) override;
  void visit_owned(OwnedVisitor& visitor) const override;

 private:
  PyObject* dict_;
};

// Node.register_hook: hook(grad_inputs, grad_outputs)
class PyFunctionPostHook final : public FunctionPostHook {
 public:
  explicit PyFunctionPostHook(PyObject* dict);
  ~PyFunctionPostHook() override;
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override;
  void visit_owned(OwnedVisitor& visitor) const override;

 private:
  PyObject* dict_;
};

// Tensor.register_post_accumulate_grad_hook: hook(tensor)
class PyFunctionTensorPostAccGradHooks final : public PostAccumulateGradHook {
 public:
  explicit PyFunctionTensorPostAccGradHooks(PyObject* dict);
  ~PyFunctionTensorPostAccGradHooks() override;
  void operator()(const Variable& tensor) override;
  void visit_owned(OwnedVisitor& visitor) const override;
  PyObject* dict() const {
    return dict_;
  }

 private:
  PyObject* dict_;
};

// A new dict that holds `hook`, and the RemovableHandle for it (both new references). Throws python_error.
PyObject* make_hook_dict(PyObject* hook, PyObject** dict);
// A tuple of tensors, None for an undefined one. Null with a Python error set on failure.
PyObject* wrap_variables(const variable_list& variables);

} // namespace reftorch::torch::autograd
