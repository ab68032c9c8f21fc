// Mirrors: torch/csrc/autograd/graph_task.h
// The state of one backward pass. Left out: futures, worker threads and streams: one thread runs a pass from start to
// end.
#pragma once

#include <csrc/autograd/input_buffer.h>
#include <csrc/autograd/variable.h>

#include <atomic>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace reftorch::torch::autograd {

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

 private:
  static std::atomic<int64_t> next_id_;
};

} // namespace reftorch::torch::autograd
