// Mirrors: torch/csrc/autograd/functions/accumulate_grad.h
//
// The node behind a leaf: it adds the gradient to the leaf's .grad. Left out: sparse and nested gradients.
//
// Note [Python under the lock of a leaf]
// Problem: two passes on two threads must not add to one .grad at once, so the node locks its mutex_. But where a
// TorchDispatchMode is active or the gradient is of a class with __torch_dispatch__, Python code answers the addition.
// That code may start a pass that comes back to the same leaf, and the thread would wait for its own lock for ever.
// Trick: the node notes the thread that holds the lock. That thread passes without locking a second time. What it
// then finds in .grad may change during each op that Python answers, so the node looks at .grad again before it
// replaces it. Limits: Python code that waits there for a pass of another thread to the same leaf waits for ever, in
// PyTorch too. The lock is waited for without the GIL; see Note [Locks and the GIL].
#pragma once

#include <csrc/autograd/variable.h>

#include <atomic>
#include <thread>

namespace reftorch::torch::autograd {

namespace impl {
// Whether exactly one reference to the Python object exists. csrc/autograd/python_variable.cpp sets the function; a
// program without Python has no such objects and no function.
TORCH_API extern bool (*has_unique_reference)(PyObject* obj);

// Whether the caller's `owners` counts are the only ones on the tensor. A Python object of the tensor that only C++
// keeps alive does not matter, although the object owns one more count; see Note [One PyObject per TensorImpl].
TORCH_API bool is_tensor_stealable(const Variable& tensor, size_t owners = 1);
} // namespace impl

struct TORCH_API AccumulateGrad final : public Node {
  explicit AccumulateGrad(Variable leaf);

  std::string name() const override {
    return "torch::autograd::AccumulateGrad";
  }
  void visit_owned(OwnedVisitor& visitor) const override;
  // The leaf's own hooks, whenever they were registered; a leaf has no other grad_fn to keep them.
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
