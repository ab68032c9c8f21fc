// Mirrors: torch/csrc/autograd/graph_task.h
//
// The state of one backward pass. Left out: futures.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <csrc/autograd/input_buffer.h>
#include <csrc/autograd/variable.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace reftorch::torch::autograd {

class ReadyQueue;

struct TORCH_API GraphTask final {
  // With `inputs=` (or autograd.grad) only some nodes run, and gradients are caught on their way into others.
  struct ExecInfo {
    struct Capture {
      uint32_t input_idx;  // which gradient of the node
      uint32_t output_idx; // where it goes in captured_vars_
    };
    bool should_execute() const {
      return needed_ || !captures_.empty();
    }
    bool needed_ = false; // the node runs
    std::vector<Capture> captures_;
  };

  GraphTask(bool keep_graph, bool create_graph)
      : keep_graph_(keep_graph), create_graph_(create_graph), id_(next_id_++) {}

  // Fills exec_info_: which nodes lie between `graph_root` and `outputs`.
  void init_to_execute(Node& graph_root, const edge_list& outputs, bool accumulate_grad, uint64_t min_topo_nr);
  // Whether a gradient for `fn` is wanted. Without `inputs=`, always.
  bool should_execute(const Node* fn) const {
    if (exec_info_.empty()) {
      return true;
    }
    auto it = exec_info_.find(fn);
    return it != exec_info_.end() && it->second.should_execute();
  }

  // Whether `node` gets gradients in this pass.
  bool will_execute(const Node* node) const {
    return nodes_in_graph_.count(node) != 0 && should_execute(node);
  }

  // The nodes that are still to run, in the order in which they will, as far as it does not depend on what they return.
  std::vector<Node*> execution_order() const;

  // A gradient came to its end at `fn`: at the end of the pass the caller's stream waits for the stream of `fn`.
  void note_leaf_stream(const Node& fn) {
    if (uses_accelerator_) {
      if (const auto stream = fn.stream()) {
        leaf_streams_.insert(*stream);
      }
    }
  }

  // The pass this thread is inside of; null outside of backward.
  static GraphTask* current();
  static GraphTask* set_current(GraphTask* task); // returns the former
  // The node that this thread is running; null outside of backward.
  static std::shared_ptr<Node> current_node();
  static const std::shared_ptr<Node>* set_current_node(
      const std::shared_ptr<Node>* node); // borrowed; returns the former

  const bool keep_graph_;
  const bool create_graph_;
  const int64_t id_; // tells passes apart, over the whole program
  const edge_list* roots_ = nullptr;
  // How many gradients are still to come for a node that has been seen from the roots.
  std::unordered_map<Node*, int> dependencies_;
  // Nodes with some of their gradients.
  std::unordered_map<Node*, InputBuffer> not_ready_;
  std::unordered_map<const Node*, ExecInfo> exec_info_;
  std::unordered_set<const Node*> nodes_in_graph_; // that can be reached from the roots
  variable_list captured_vars_;
  // Run once, when everything else is done (`queue_callback`).
  std::vector<std::function<void()>> final_callbacks_;

  // --- a pass that reaches an accelerator: see Note [Device threads]
  bool uses_accelerator_ = false;
  // Guards all that changes during the pass. Without an accelerator one thread runs the pass, and takes no lock.
  std::mutex mutex_;
  std::unique_lock<std::mutex> lock() {
    return uses_accelerator_ ? std::unique_lock<std::mutex>(mutex_) : std::unique_lock<std::mutex>();
  }
  // Guards final_callbacks_. A hook takes it with the GIL held, under which mutex_ must not be waited for.
  std::mutex final_callbacks_mutex_;
  // The queue of the thread that started the pass.
  ReadyQueue* owner_queue_ = nullptr;
  // What the caller had set for its ops.
  const at::ThreadLocalState* thread_locals_ = nullptr;
  // Nodes that are in a queue or running. The pass is over when there are none.
  int64_t outstanding_tasks_ = 0;
  std::exception_ptr error_;                     // the first one: what is still in the queues is then dropped
  std::unordered_set<c10::Stream> leaf_streams_; // streams on which a gradient came to its end

 private:
  static std::atomic<int64_t> next_id_;
};

} // namespace reftorch::torch::autograd
