// Mirrors: torch/csrc/autograd/python_function.h
//
// autograd.Function: a node whose forward and backward are Python functions. Python sees the node as the context `ctx`,
// which is also the `grad_fn` of the outputs. Left out: forward mode (reftorch/autograd/function.py has it), compiled
// autograd.
//
// A context and its node are made together, and live together by the two rules of Note [One PyObject per TensorImpl].
//   1. The context owns its PyNode. So a context never loses its node, and next_functions still works when the graph is
//      gone.
//   2. While C++ holds the node, all std::shared_ptr to the node together own one reference to the context. So the
//      context and its attributes live for as long as the graph needs them. When the last of these pointers is
//      destroyed, it drops the reference. A later pointer (PyNode::from_context) takes the reference again.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

struct TORCH_API PyNode final : public Node {
  explicit PyNode(PyObject* ctx) : obj(ctx) {}

  std::string name() const override;
  void release_variables() override;
  // Whoever owns the node owns, together with all other owners, the one reference to the context. The context shows the
  // rest.
  void visit_owned(OwnedVisitor& visitor) const override {
    visitor.py_object(obj);
  }
  // Returns the node of a context; null if `obj` is not a context, or if the garbage collector has cleared the context.
  // The caller holds the GIL.
  static std::shared_ptr<Node> from_context(PyObject* obj);

  PyObject* const obj; // the THPFunction, which owns this node

 protected:
  variable_list apply(variable_list&& grads) override;
};

struct THPFunction {
  PyObject_HEAD
      // Set by forward through ctx; null if forward did not set it.
      PyObject* needs_input_grad;
  PyObject* to_save;
  PyObject* saved_for_forward;
  PyObject* non_differentiable;
  PyObject* dirty_tensors;
  bool materialize_grads;
  bool materialize_non_diff_grads; // whether outputs that are not differentiable get zeros as gradients
  bool pure_view;                  // whether the only output is a view of the only tensor input

  bool has_freed_buffers;
  std::vector<SavedVariable> saved_variables;
  std::vector<bool> is_variable_input; // one for each argument of forward
  std::unique_ptr<PyNode> cdata;       // null if the garbage collector has cleared the context
};

extern PyTypeObject* THPFunctionType; // _C._FunctionBase

// Function.apply(*inputs), with the class as first argument. If `context` is not null, it receives a new reference to
// ctx. Defined in python_function_apply.cpp.
PyObject* THPFunction_apply(PyObject* cls, PyObject* const* inputs, Py_ssize_t num_inputs,
                            PyObject** context = nullptr);

inline THPFunction* as_function(PyObject* obj) {
  return reinterpret_cast<THPFunction*>(obj);
}

void initFunction(PyObject* module);

} // namespace reftorch::torch::autograd
