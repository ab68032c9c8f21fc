// Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariable_traverse), torch/csrc/autograd/python_cpp_function.cpp
// (traverse)
// The garbage collector's way through C++. Left out: nothing; PyTorch's stops at the first node.
//
// Note [Cycles through the graph]
// Problem: `y.register_hook(lambda grad: y)`: the tensor y owns its node, which owns the hook, which owns y. Two of
// these links are C++, which Python's collector can not see, so it would take y for held from outside. Trick:
// tp_traverse of an object walks on through what C++ alone keeps alive, and shows every Python object at the end of
// such a way. It may only pass what belongs to nobody else: a node or tensor is entered when the walk has met as many
// references to it as it has owners. What is shared (with another tensor of the program, or with a pass that runs on
// another thread right now) is not entered: then a cycle may stay, but nothing that is in use is ever cleared. Since
// nobody else can reach what is entered, it does not change under the walk, though other threads run without the GIL.
// A way may be as long as the graph, and Python collects its young objects after some hundred new ones: so only a full
// collection walks on, and the others look at what an object owns itself.
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
  void variable(const Variable& owned) override;
  void py_object(PyObject* owned) override;
  // Walks on from what was shown so far; returns what tp_traverse must.
  int run();

 private:
  bool found_all_owners(const void* object, size_t owners);

  visitproc visit_;
  void* arg_;
  int result_ = 0;
  std::unordered_map<const void*, size_t> found_; // of those with several owners: how many were met
  std::vector<const Node*> nodes_;                // to be entered
  std::vector<const Variable*> variables_;
};

// Has Python tell which collections are full ones.
void init_traversal();

} // namespace reftorch::torch::autograd
