// Mirrors: torch/csrc/autograd/python_function.h
// autograd.Function: a node whose forward and backward are Python. The context `ctx` is a THPFunction; the graph holds
// a PyNode that owns it. The context knows its node weakly. Left out: forward mode, compiled autograd.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

struct TORCH_API PyNode final : public Node {
  explicit PyNode(PyObject* ctx) : obj(Py_NewRef(ctx)) {}
  ~PyNode() override;

  std::string name() const override;
  void release_variables() override;
  void visit_owned(OwnedVisitor& visitor) const override {
    Node::visit_owned(visitor);
    visitor.py_object(obj);
  }
  // The node of a context; null if `obj` is none, or was not recorded.
  static std::shared_ptr<PyNode> from_context(PyObject* obj);

  PyObject* obj; // the THPFunction

 protected:
  variable_list apply(variable_list&& grads) override;
};

struct THPFunction {
  PyObject_HEAD
      // Set by forward, through ctx; null if not.
      PyObject* needs_input_grad;
  PyObject* to_save;
  PyObject* saved_for_forward;
  PyObject* non_differentiable;
  PyObject* dirty_tensors;
  bool materialize_grads;
  bool materialize_non_diff_grads; // zeros also for outputs that have no gradient
  bool pure_view;                  // the one output is a view of the one input

  bool has_freed_buffers;
  std::vector<SavedVariable> saved_variables;
  std::vector<bool> is_variable_input; // one per argument of forward
  std::weak_ptr<PyNode> cdata;
};

extern PyTypeObject* THPFunctionType; // _C._FunctionBase

// Function.apply(*inputs), with the class as first argument; `context`, where wanted, is ctx.
// (python_function_apply.cpp)
PyObject* THPFunction_apply(PyObject* cls, PyObject* const* inputs, Py_ssize_t num_inputs,
                            PyObject** context = nullptr);

inline THPFunction* as_function(PyObject* obj) {
  return reinterpret_cast<THPFunction*>(obj);
}

void initFunction(PyObject* module);

} // namespace reftorch::torch::autograd
