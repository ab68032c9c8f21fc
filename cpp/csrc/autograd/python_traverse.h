// Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariable_traverse), torch/csrc/autograd/python_cpp_function.cpp (traverse)
//
// Shows the garbage collector what Python objects own through C++ objects. Left out: nothing; PyTorch's walk stops at
// the first node.
//
// Note [Cycles through the graph]
// Problem: `y.register_hook(lambda grad: y)` makes a cycle. The tensor y owns its node, the node owns the hook, and the
// hook owns y. The first two links are C++. Python's collector does not see them, and so assumes that somebody outside
// the cycle holds y. Trick: tp_traverse of an object walks on through the nodes and tensors that only C++ keeps alive,
// and shows the collector every Python object that the walk reaches.
//   - The walk enters a node or a tensor only if the walk has met all owners of the node or tensor. Then nobody else
//     can reach it, and no other thread can change it, although other threads run without the GIL.
//   - A tensor may have a Python object, and the node of a custom Function always has one. When the walk has met all
//     owners in C++, it has found the one reference that these own together (Note [One PyObject per TensorImpl]), and
//     shows this reference.
//   - A node or tensor that has an owner outside the walk is not shown. Then a cycle may stay alive, but nothing that
//     is in use is ever cleared.
//   - The context of a custom Function shows what its node owns even if a graph holds the node too, because the context
//     may own a part of that graph. So the context must not do that while a backward pass may be running over the node.
// Limits: a walk may be as long as the graph, and Python collects its young objects after some hundred allocations. So
// only a full collection walks on. In the other collections an object shows only what it owns itself.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <csrc/autograd/saved_variable.h>

#include <unordered_map>

namespace reftorch::torch::autograd {

class GraphTraversal final : public OwnedVisitor {
 public:
  GraphTraversal(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  void node(const std::shared_ptr<Node>& owned) override;
  bool variable(const Variable& owned) override;
  void py_object(PyObject* owned) override;
  // Walks on from the nodes and tensors that were shown so far. Returns what tp_traverse has to return.
  int run();

 private:
  bool found_all_owners(const void* object, size_t owners);

  visitproc visit_;
  void* arg_;
  int result_ = 0;
  std::unordered_map<const void*, size_t> found_; // owners met so far, for objects with several owners
  std::vector<const Node*> nodes_;                // the nodes and tensors to enter
  std::vector<const Variable*> variables_;
};

// Exists as long as a thread runs nodes without the GIL. Construct and destroy it with the GIL held.
class RunsNodes final {
 public:
  RunsNodes() {
    threads_++;
  }
  ~RunsNodes() {
    threads_--;
  }
  RunsNodes(const RunsNodes&) = delete;
  RunsNodes& operator=(const RunsNodes&) = delete;
  static bool any() {
    return threads_ != 0;
  }

 private:
  static inline int threads_ = 0;
};

// Asks Python to report when a full collection begins and ends.
void init_traversal();

} // namespace reftorch::torch::autograd
