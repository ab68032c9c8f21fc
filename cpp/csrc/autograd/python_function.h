// Mirrors: torch/csrc/autograd/python_function.h
// autograd.Function: a node whose forward and backward are Python. The context `ctx` is a THPFunction, made together
// with its PyNode, which is what the graph holds. Left out: forward mode, compiled autograd.
//
// Note [One context per PyNode]
// Problem: `y.grad_fn` must be one object, attributes included, whether only the graph holds the node or only the
// program does, and next_functions must lead on after y is gone. So each keeps the other alive, which must not make
// them immortal. Trick: one of the two owns the other, and they change places as in Note [One PyObject per TensorImpl].
//   Python owns: while the program holds the context, `cdata` holds a count on the node.
//   C++ owns: when the program lets go of the context while the graph still holds the node, tp_finalize turns the
//   ownership around: the node owns one reference to the context, and `cdata` is a pointer without a count. to_python()
//   turns it back; ~PyNode releases the context. (Who gets the context by a weak reference does not turn it back, and
//   may be left with one that has no node.)
// While both hold the node, Python's collector sees what the context owns, but not that the graph holds the context:
// `ctx.me = ctx` would be taken for garbage. So for as long as a full collection lasts, the node owns a reference to
// each such context (a pin), which the graph shows, and the context shows what the node owns; see python_traverse.h. In
// the others the context shows nothing, and to that end has its __dict__ in its own hands.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

namespace reftorch::torch::autograd {

struct TORCH_API PyNode final : public Node {
  explicit PyNode(PyObject* ctx) : obj(ctx) {}
  ~PyNode() override;

  std::string name() const override;
  void release_variables() override;
  void visit_owned(OwnedVisitor& visitor) const override {
    Node::visit_owned(visitor);
    if (owns_obj) {
      visitor.py_object(obj);
    }
  }
  // A new reference to the context, which owns the node from now on. Needs the GIL.
  PyObject* to_python();
  // The node of a context; null if `obj` is none, or its node is gone.
  static std::shared_ptr<Node> from_context(PyObject* obj);

  PyObject* obj; // the THPFunction; null if the garbage collector took that apart
  bool owns_obj = false;
  bool is_pinned = false; // a reference to `obj` for as long as a full collection lasts

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
  std::shared_ptr<Node> cdata;         // a PyNode
  PyObject* dict;                      // __dict__
  THPFunction *previous, *next;        // in the list of those that hold a count on their node
};

extern PyTypeObject* THPFunctionType; // _C._FunctionBase

// Function.apply(*inputs), with the class as first argument; `context`, where wanted, is ctx.
// (python_function_apply.cpp)
PyObject* THPFunction_apply(PyObject* cls, PyObject* const* inputs, Py_ssize_t num_inputs,
                            PyObject** context = nullptr);

inline THPFunction* as_function(PyObject* obj) {
  return reinterpret_cast<THPFunction*>(obj);
}

// Before and after a full collection; see Note [One context per PyNode].
void pin_contexts();
void unpin_contexts();

void initFunction(PyObject* module);

} // namespace reftorch::torch::autograd
