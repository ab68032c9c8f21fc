// Mirrors: torch/csrc/autograd/python_function.h
//
// autograd.Function: a node whose forward and backward are Python. Python sees the node as the context `ctx`, which is
// the tensor's `grad_fn`. Left out: forward mode, compiled autograd.
//
// A context and its node are made together, and live together by the two rules of Note [One PyObject per TensorImpl].
//   1. The context owns its PyNode. So a context never loses its node, and next_functions lead on when the graph is
//   gone.
//   2. While C++ holds the node, all its std::shared_ptr together own one reference to the context. So the context,
//   with
//      its attributes, lives for as long as the graph needs it. When the last of these pointers goes, it drops the
//      reference. A later pointer (PyNode::from_context) takes the reference anew.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

struct TORCH_API PyNode final : public Node {
  explicit PyNode(PyObject* ctx) : obj(ctx) {}

  std::string name() const override;
  void release_variables() override;
  // Who owns the node owns, together with all others, the reference to the context. The context shows the rest.
  void visit_owned(OwnedVisitor& visitor) const override {
    visitor.py_object(obj);
  }
  // The node of a context; null if `obj` is no context, or if the garbage collector took the context apart. Needs the
  // GIL.
  static std::shared_ptr<Node> from_context(PyObject* obj);

  PyObject* const obj; // the THPFunction, which owns this node

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
  std::unique_ptr<PyNode> cdata;       // null if the garbage collector took the context apart
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
