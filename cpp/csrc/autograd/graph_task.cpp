// Mirrors: torch/csrc/autograd/engine.cpp (GraphTask::init_to_execute)
#include <csrc/autograd/graph_task.h>

#include <algorithm>

namespace reftorch::torch::autograd {

static thread_local GraphTask* current_graph_task = nullptr;
static thread_local const std::shared_ptr<Node>* current_evaluating_node = nullptr;
std::atomic<int64_t> GraphTask::next_id_{0};

GraphTask* GraphTask::current() {
  return current_graph_task;
}

GraphTask* GraphTask::set_current(GraphTask* task) {
  return std::exchange(current_graph_task, task);
}

std::shared_ptr<Node> GraphTask::current_node() {
  return current_evaluating_node != nullptr ? *current_evaluating_node : nullptr;
}

const std::shared_ptr<Node>* GraphTask::set_current_node(const std::shared_ptr<Node>* node) {
  return std::exchange(current_evaluating_node, node);
}

// Note [Exec info]
// A node is needed if one of `outputs` can be reached from the node. The walk is depth first, with an explicit stack.
// When a node is on top of the stack and all its edges were followed, the answers of all its children are known, and
// the answer of the node follows from them.
void GraphTask::init_to_execute(Node& graph_root, const edge_list& outputs, bool accumulate_grad,
                                uint64_t min_topo_nr) {
  for (uint32_t i = 0; i < outputs.size(); i++) {
    ExecInfo& info = exec_info_[outputs[i].function.get()];
    if (accumulate_grad) {
      info.needed_ = true; // the pass runs the AccumulateGrad itself
    } else {
      info.captures_.push_back({outputs[i].input_nr, i});
    }
  }
  captured_vars_.resize(accumulate_grad ? 0 : outputs.size());

  struct Frame {
    Node* fn;
    size_t next_edge;
  };
  std::vector<Frame> stack{{&graph_root, 0}};
  std::unordered_set<Node*> seen{&graph_root};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    Node* const fn = frame.fn;
    if (frame.next_edge < fn->num_outputs()) {
      Node* child = fn->next_edge(frame.next_edge++).function.get();
      // A node whose topological number is below the smallest one of the outputs cannot reach an output.
      if (child != nullptr && child->topological_nr() >= min_topo_nr && seen.insert(child).second) {
        stack.push_back({child, 0});
      }
      continue;
    }
    bool needed = false;
    for (const Edge& edge : fn->next_edges()) {
      auto it = exec_info_.find(edge.function.get());
      needed = needed || (it != exec_info_.end() && it->second.should_execute());
    }
    if (needed) {
      exec_info_[fn].needed_ = true;
    }
    stack.pop_back();
  }
}

std::vector<Node*> GraphTask::execution_order() const {
  std::vector<Node*> order, ready;
  const auto runs_later = [](const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); };
  std::unordered_map<Node*, int> missing = dependencies_;
  for (const Edge& root : *roots_) {
    ready.push_back(root.function.get());
  }
  while (!ready.empty()) {
    const auto next = std::max_element(ready.begin(), ready.end(), runs_later);
    Node* const fn = *next;
    ready.erase(next);
    order.push_back(fn);
    for (const Edge& edge : fn->next_edges()) {
      Node* const child = edge.function.get();
      if (child != nullptr && should_execute(child) && --missing[child] == 0) {
        ready.push_back(child);
      }
    }
  }
  return order;
}

} // namespace reftorch::torch::autograd
