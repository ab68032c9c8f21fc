// Mirrors: torch/csrc/autograd/engine.h
// Runs backward passes. A pass runs on the thread that asked for it, until it is done; passes of several threads may
// run at once, also on graphs that share nodes. A node may start another pass ("re-entrant"): it runs to its end inside
// the first, and past kMaxReentrantDepth on a thread of its own, whose stack is fresh. Left out: one worker thread per
// device, streams, checkpoint validity, compiled autograd.
#pragma once

#include <csrc/autograd/graph_task.h>

#include <string>

namespace reftorch::torch::autograd {

// So many passes may be nested on one thread's stack (60 in PyTorch too).
constexpr int kMaxReentrantDepth = 60;

struct NodeTask final {
  std::shared_ptr<Node> fn_;
  InputBuffer inputs_;
};

// Nodes that have all their gradients; the one recorded last comes first. See Note [Sequence number].
class ReadyQueue final {
 public:
  void push(NodeTask item);
  NodeTask pop();
  bool empty() const {
    return heap_.empty();
  }

 private:
  std::vector<NodeTask> heap_;
};

class TORCH_API Engine final {
 public:
  static Engine& get_default_engine();

  // Sends `inputs`, the gradients at `roots`, through the graph. With `outputs`, only towards those edges, and unless
  // `accumulate_grad` the gradients that arrive there are returned, in their order (undefined where none arrived);
  // otherwise leaves accumulate in .grad. Throws what a node or hook throws; the graph is then partly run and partly
  // freed.
  variable_list execute(const edge_list& roots, variable_list inputs, bool keep_graph, bool create_graph,
                        bool accumulate_grad, const edge_list& outputs = {});

  // For use inside a pass: `callback` runs at its end. RuntimeError outside of backward.
  void queue_callback(std::function<void()> callback);

 private:
  static void run(GraphTask& task, NodeTask root);
  static void compute_dependencies(Node& root, GraphTask& task, uint64_t min_topo_nr);
  static void evaluate_function(GraphTask& task, const std::shared_ptr<Node>& fn, InputBuffer& inputs,
                                ReadyQueue& ready);
};

// Checks what came back for each edge against what it leads to: sums a broadcast gradient, casts its dtype.
// RuntimeError naming `source` if it fits no way.
void validate_outputs(const edge_list& edges, variable_list& grads, const std::function<std::string()>& source);

} // namespace reftorch::torch::autograd
