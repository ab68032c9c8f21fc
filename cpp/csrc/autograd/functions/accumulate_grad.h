// Mirrors: torch/csrc/autograd/functions/accumulate_grad.h
//
// The node behind a leaf, which adds the gradient to the leaf's .grad. Left out: sparse and nested gradients.
//
// Note [Python under the lock of a leaf]
// Problem: two passes on two threads must not add to one .grad at the same time, so the node locks its mutex_. But
// where a TorchDispatchMode is active or the class of the gradient defines __torch_dispatch__, Python code computes the
// sum. That code may start a pass that comes back to the same leaf, and the thread would wait for its own lock for
// ever. Trick: the node records which thread holds the lock, and lets that thread pass without locking again. Python
// code may change .grad during each op, so the node reads .grad again before it replaces .grad. Limits: Python code
// that waits there for a pass of another thread to the same leaf waits for ever, as in PyTorch. A thread waits for the
// lock without holding the GIL; see Note [Locks and the GIL].
#pragma once

#include <csrc/autograd/variable.h>

#include <atomic>
#include <thread>

namespace reftorch::torch::autograd {

namespace impl {
// Returns whether exactly one reference to the Python object exists. csrc/autograd/python_variable.cpp sets the
// function; a program without Python has no such objects and no function.
TORCH_API extern bool (*has_unique_reference)(PyObject* obj);

// Returns whether the tensor has no other owners than the `owners` references of the caller. A Python object of the
// tensor that only C++ keeps alive does not count as an owner, although the object owns one more reference.
// See Note [One PyObject per TensorImpl].
TORCH_API bool is_tensor_stealable(const Variable& tensor, size_t owners = 1);
} // namespace impl

struct TORCH_API AccumulateGrad final : public Node {
  explicit AccumulateGrad(Variable leaf);

  std::string name() const override {
    return "torch::autograd::AccumulateGrad";
  }
  void visit_owned(OwnedVisitor& visitor) const override;
  // Runs the leaf's hooks too, whenever they were registered. The leaf stores them itself, because it has no other
  // grad_fn.
  void call_tensor_pre_hooks(variable_list& grads) override;

  Variable variable;

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  // See Note [Python under the lock of a leaf].
  void accumulate(Variable new_grad);
  void accumulate_locked(Variable& new_grad);

  std::atomic<std::thread::id> accumulating_{}; // the thread that holds mutex_
};

} // namespace reftorch::torch::autograd
