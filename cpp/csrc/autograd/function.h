// Mirrors: torch/csrc/autograd/node.h, torch/csrc/autograd/function.h
//
// Node is one step of the backward graph. A node receives a gradient for each output of the op that made the node, and
// returns a gradient for each differentiable input of the op. Its edges say where the returned gradients go. Left out:
// forward-mode grads, tracing. The engine profiles nodes (engine.cpp, run_recorded).
#pragma once

#include <csrc/autograd/anomaly_mode.h>
#include <csrc/autograd/edge.h>
#include <csrc/autograd/function_hook.h>
#include <csrc/autograd/input_metadata.h>

#include <c10/util/LazyPtr.h>
#include <c10/util/Mutex.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace reftorch::torch::autograd {

using edge_list = c10::SmallVector<Edge, 2>;

// A visitor to which a node, a tensor or a hook shows what it owns. See Note [Cycles through the graph].
struct OwnedVisitor {
  virtual void node(const std::shared_ptr<Node>& owned) = 0;
  // Returns whether the walk has now met every owner of the tensor and of its Python object.
  virtual bool variable(const Variable& owned) = 0;
  virtual void py_object(PyObject* owned) = 0;

 protected:
  ~OwnedVisitor() = default;
};

// Note [Sequence number]
// Problem: when several nodes are ready, the node recorded last should run first. Then buffers are freed early, and a
// node usually has all its gradients when the engine reaches it. Trick: each thread numbers the nodes that it makes,
// and the ready queue takes the node with the highest number. AccumulateGrad has the highest possible number, so that a
// finished gradient is accumulated at once.

// A list of hooks, in the order in which they run.
using HookList = std::vector<std::shared_ptr<FunctionPreHook>>;

// Calls `run` with each entry that `hooks` has now, without holding the mutex that guards the list: the hook itself, or
// another thread, may add hooks to the list. Hooks that are added meanwhile are not called; otherwise a hook that adds
// a hook would be called without end.
template <typename Entry, typename Run>
void for_each_hook(c10::Mutex& mutex, const std::vector<Entry>& hooks, const Run& run) {
  std::vector<Entry> present;
  {
    std::lock_guard<c10::Mutex> lock(mutex);
    present = hooks;
  }
  for (const Entry& entry : present) {
    run(entry);
  }
}

struct TORCH_API Node : std::enable_shared_from_this<Node> {
  explicit Node(uint64_t sequence_nr) : sequence_nr_(sequence_nr) {
    if (__builtin_expect(AnomalyMode::is_enabled(), 0)) {
      note_creation();
    }
  }
  Node() : Node(next_sequence_nr_++) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  variable_list operator()(variable_list&& inputs) {
    return apply(std::move(inputs));
  }
  // The node's name, for example "MulBackward0".
  virtual std::string name() const = 0;
  // Drops the saved values, after which the node cannot run again. The engine calls this function unless the graph is
  // retained.
  virtual void release_variables() {}
  // Shows `visitor` everything that this node owns.
  virtual void visit_owned(OwnedVisitor& visitor) const;

  // --- inputs: the outputs of the forward op
  uint32_t add_input_metadata(const Variable& output) {
    input_metadata_.emplace_back(output);
    return static_cast<uint32_t>(input_metadata_.size() - 1);
  }
  // Adds metadata for an output that is undefined or takes no gradient.
  uint32_t add_undefined_input_metadata() {
    input_metadata_.emplace_back();
    return static_cast<uint32_t>(input_metadata_.size() - 1);
  }
  uint32_t num_inputs() const {
    return static_cast<uint32_t>(input_metadata_.size());
  }
  const InputMetadata& input_metadata(size_t index) const {
    return input_metadata_[index];
  }
  // The device on which the op ran in the forward pass and on which this node runs: the first accelerator among the
  // devices of the op's outputs, or the CPU if there is none.
  at::Device device() const;
  // The stream on which the op ran in the forward pass; nullopt for the CPU.
  std::optional<c10::Stream> stream() const;
  void set_input_grad_dtype(size_t index, at::ScalarType dtype) {
    input_metadata_[index].set_grad_dtype(dtype);
  }

  // --- outputs: the differentiable inputs of the forward op
  void add_next_edge(Edge edge);
  void set_next_edge(size_t index, Edge edge);
  uint32_t num_outputs() const {
    return static_cast<uint32_t>(next_edges_.size());
  }
  const Edge& next_edge(size_t index) const {
    return next_edges_[index];
  }
  const edge_list& next_edges() const {
    return next_edges_;
  }
  // Returns whether the graph has an edge for output `index`. During a backward pass, use task_should_compute_output:
  // the pass may need fewer gradients (`inputs=`).
  bool should_compute_output(size_t index) const {
    return next_edges_[index].is_valid();
  }
  bool task_should_compute_output(size_t index) const;

  uint64_t sequence_nr() const {
    return sequence_nr_;
  }
  void set_sequence_nr(uint64_t sequence_nr) {
    sequence_nr_ = sequence_nr;
  }
  // The number that the next node of this thread gets.
  static uint64_t peek_sequence_nr() {
    return next_sequence_nr_;
  }
  static void set_next_sequence_nr(uint64_t next) {
    next_sequence_nr_ = next;
  }
  // The length of the longest path from this node to a leaf. An edge always leads to a node with a smaller number, so
  // graph walks can stop early.
  uint64_t topological_nr() const {
    return topological_nr_;
  }

  // --- hooks. A `tensor_pre` hook belongs to a tensor that this node made and sees the gradient of that tensor; `pre`
  // and `post` hooks belong to the node and see all gradients.
  struct TensorPreHook {
    std::shared_ptr<FunctionPreHook> hook;
    uint32_t output_nr;
  };
  void add_tensor_pre_hook(std::unique_ptr<FunctionPreHook> hook) {
    add_to(hooks().tensor_pre, std::move(hook));
  }
  template <typename Found>
  bool any_tensor_pre_hook(Found found) const {
    if (hooks_ == nullptr) {
      return false;
    }
    std::lock_guard<c10::Mutex> lock(hooks_->mutex);
    return std::any_of(hooks_->tensor_pre.begin(), hooks_->tensor_pre.end(), found);
  }
  // Adds the hook of retain_grad for output `output_nr`. The hook runs after all other tensor hooks. When the tensor is
  // changed in place, the hook moves to the tensor's new node.
  void add_retains_grad_hook(std::unique_ptr<FunctionPreHook> hook, uint32_t output_nr) {
    Hooks& all = hooks();
    std::lock_guard<c10::Mutex> lock(all.mutex);
    all.retains_grad.push_back({std::move(hook), output_nr});
  }
  std::shared_ptr<FunctionPreHook> pop_retains_grad_hook(uint32_t output_nr);
  void add_pre_hook(std::unique_ptr<FunctionPreHook> hook) {
    add_to(hooks().pre, std::move(hook));
  }
  void add_post_hook(std::unique_ptr<FunctionPostHook> hook) {
    add_to(hooks().post, std::move(hook));
  }
  // Return copies of the lists, for code that looks for a hook of its own.
  HookList pre_hooks() const {
    return hooks_ == nullptr ? HookList() : copy_of(hooks_->pre);
  }
  std::vector<std::shared_ptr<FunctionPostHook>> post_hooks() const {
    return hooks_ == nullptr ? std::vector<std::shared_ptr<FunctionPostHook>>() : copy_of(hooks_->post);
  }
  // Each function runs one kind of hook over the gradients.
  virtual void call_tensor_pre_hooks(variable_list& grads);
  void call_pre_hooks(variable_list& grads);
  void call_post_hooks(variable_list& outputs, const variable_list& inputs);
  bool has_post_hooks() const {
    if (hooks_ == nullptr) {
      return false;
    }
    std::lock_guard<c10::Mutex> lock(hooks_->mutex);
    return !hooks_->post.empty();
  }

  // The Python object of this node, which exists while somebody holds it. The pointer is borrowed: the object owns the
  // node, and the node does not own the object.
  PyObject* pyobj() const {
    return pyobj_;
  }
  void set_pyobj(PyObject* obj) {
    pyobj_ = obj;
  }
  // The node's anomaly metadata, made on the first call; null in a program without Python.
  AnomalyMetadata* metadata();

 protected:
  virtual variable_list apply(variable_list&& inputs) = 0;

  // Guards what two backward passes on two threads may touch at the same time. See Note [Locks and the GIL].
  c10::Mutex mutex_;

 private:
  // One thread may add hooks while another thread runs a pass. The mutex guards the lists; the hooks are called without
  // the mutex.
  struct Hooks {
    c10::Mutex mutex;
    HookList tensor_pre;
    std::vector<TensorPreHook> retains_grad;
    HookList pre;
    std::vector<std::shared_ptr<FunctionPostHook>> post;
  };
  Hooks& hooks() {
    return *hooks_.get_or_make([] { return std::make_unique<Hooks>(); });
  }
  template <typename List, typename Hook>
  void add_to(List& list, Hook hook) {
    std::lock_guard<c10::Mutex> lock(hooks().mutex);
    list.push_back(std::move(hook));
  }
  template <typename List>
  List copy_of(const List& list) const {
    std::lock_guard<c10::Mutex> lock(hooks_->mutex);
    return list;
  }
  void note_creation(); // see Note [Anomaly mode]
  void update_topological_nr(const Edge& edge) {
    if (edge.is_valid()) {
      topological_nr_ = std::max(topological_nr_, edge.function->topological_nr_ + 1);
    }
  }

  static inline thread_local uint64_t next_sequence_nr_ = 0;

  uint64_t sequence_nr_;
  uint64_t topological_nr_ = 0;
  edge_list next_edges_;
  c10::SmallVector<InputMetadata, 1> input_metadata_;
  c10::LazyPtr<Hooks> hooks_; // most nodes have none
  c10::LazyPtr<AnomalyMetadata> anomaly_metadata_;
  PyObject* pyobj_ = nullptr;
};

} // namespace reftorch::torch::autograd
