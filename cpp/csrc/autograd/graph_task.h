// Mirrors: torch/csrc/autograd/graph_task.h
//
// The state of one backward pass. Left out: futures.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <c10/core/GradMode.h>
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
  // Says what a pass with `inputs=` (or autograd.grad) does at one node. Such a pass runs only some nodes, and captures
  // the gradients that arrive at the requested inputs.
  struct ExecInfo {
    struct Capture {
      uint32_t input_idx;  // the number of the gradient among the node's inputs
      uint32_t output_idx; // the gradient's place in captured_vars_
    };
    bool should_execute() const {
      return needed_ || !captures_.empty();
    }
    bool needed_ = false; // whether the pass runs the node
    std::vector<Capture> captures_;
  };

  GraphTask(bool keep_graph, bool create_graph)
      : keep_graph_(keep_graph), create_graph_(create_graph), id_(next_id_++) {}

  // Fills exec_info_ with the nodes on the paths from `graph_root` to `outputs`.
  void init_to_execute(Node& graph_root, const edge_list& outputs, bool accumulate_grad, uint64_t min_topo_nr);
  // Returns whether the pass needs a gradient for `fn`. A pass without `inputs=` needs all gradients.
  bool should_execute(const Node* fn) const {
    if (exec_info_.empty()) {
      return true;
    }
    auto it = exec_info_.find(fn);
    return it != exec_info_.end() && it->second.should_execute();
  }

  // Returns whether `node` gets gradients in this pass.
  bool will_execute(const Node* node) const {
    return nodes_in_graph_.count(node) != 0 && should_execute(node);
  }

  // Forecasts the order in which the nodes of the pass will run. Call this function before the first node has run. The
  // forecast does not know what the nodes will return.
  std::vector<Node*> execution_order() const;

  // Called when a gradient has come to its end at `fn`. At the end of the pass, the caller's stream waits for the
  // stream of `fn`.
  void note_leaf_stream(const Node& fn) {
    if (uses_accelerator_) {
      if (const auto stream = fn.stream()) {
        leaf_streams_.insert(*stream);
      }
    }
  }

  // The pass that this thread is running; null outside of backward.
  static GraphTask* current();
  static GraphTask* set_current(GraphTask* task); // returns the former pass
  // The node that this thread is running; null outside of backward.
  static std::shared_ptr<Node> current_node();
  static const std::shared_ptr<Node>* set_current_node(
      const std::shared_ptr<Node>* node); // borrows the pointer; returns the former one

  const bool keep_graph_;
  const bool create_graph_;
  const int64_t id_; // a number that no other pass of this process has
  const edge_list* roots_ = nullptr;
  // How many gradients are still missing, for each node that can be reached from the roots.
  std::unordered_map<Node*, int> dependencies_;
  // Nodes that have received some of their gradients, but not all.
  std::unordered_map<Node*, InputBuffer> not_ready_;
  std::unordered_map<const Node*, ExecInfo> exec_info_;
  std::unordered_set<const Node*> nodes_in_graph_; // all nodes that can be reached from the roots
  variable_list captured_vars_;
  // Run once at the end of the pass, when all nodes are done (`queue_callback`).
  std::vector<std::function<void()>> final_callbacks_;

  // --- a pass that reaches an accelerator: see Note [Device threads]
  bool uses_accelerator_ = false;
  // Whether nodes of an accelerator run on the thread of their device; otherwise the owner of the pass runs them.
  const bool multithreaded_ = c10::BackwardMultithreading::is_enabled();
  // Guards everything that changes during the pass. Without an accelerator one thread runs the pass and takes no lock.
  std::mutex mutex_;
  std::unique_lock<std::mutex> lock() {
    return uses_accelerator_ ? std::unique_lock<std::mutex>(mutex_) : std::unique_lock<std::mutex>();
  }
  // Guards final_callbacks_. A hook takes this mutex while it holds the GIL, and a thread that holds the GIL must not
  // wait for mutex_.
  std::mutex final_callbacks_mutex_;
  // The queue of the thread that started the pass.
  ReadyQueue* owner_queue_ = nullptr;
  // The thread-local state of the caller, under which the nodes run on the devices' threads.
  const at::ThreadLocalState* thread_locals_ = nullptr;
  // The number of nodes that are in a queue or running. The pass is over when the number is 0.
  int64_t outstanding_tasks_ = 0;
  std::exception_ptr error_;                     // the first error; nodes that are still in queues are then dropped
  std::unordered_set<c10::Stream> leaf_streams_; // streams on which a gradient came to its end

 private:
  static std::atomic<int64_t> next_id_;
};

} // namespace reftorch::torch::autograd
