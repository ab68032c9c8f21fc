// Mirrors: torch/csrc/autograd/engine.h
//
// Runs backward passes. The CPU's nodes run on the thread that asked for the pass; an accelerator's nodes run on a
// thread of their device (Note [Device threads]). The caller waits until the pass is done. Passes of several threads
// may run at the same time, even on graphs that share nodes. A node may start another pass ("re-entrant"), which runs
// to its end inside the first pass. Beyond kMaxReentrantDepth nested passes, a pass runs on a fresh thread, whose stack
// is empty.
#pragma once

#include <csrc/autograd/graph_task.h>

#include <condition_variable>
#include <string>

namespace reftorch::torch::autograd {

// The number of passes that may be nested on the stack of one thread. PyTorch's limit is 60 too.
constexpr int kMaxReentrantDepth = 60;

// A node and the gradients that arrived for it. A task without a node only wakes the thread that takes the task.
struct NodeTask final {
  GraphTask* base_;
  std::shared_ptr<Node> fn_;
  InputBuffer inputs_;
};

// A priority queue of the nodes that have all their gradients. The node recorded last comes first.
// See Note [Sequence number].
class ReadyQueue final {
 public:
  // A queue that only one thread uses takes no lock.
  explicit ReadyQueue(bool shared) : shared_(shared) {}
  void push(NodeTask item);
  // Takes the first node. If a shared queue is empty, pop waits for a node.
  NodeTask pop();
  bool empty() const {
    return heap_.empty();
  }

 private:
  std::unique_lock<std::mutex> lock() {
    return shared_ ? std::unique_lock<std::mutex>(mutex_) : std::unique_lock<std::mutex>();
  }

  const bool shared_;
  std::vector<NodeTask> heap_;
  std::mutex mutex_;
  std::condition_variable not_empty_;
};

class TORCH_API Engine final {
 public:
  static Engine& get_default_engine();

  // Sends `inputs`, the gradients at `roots`, through the graph. Without `outputs`, leaves accumulate in .grad. With
  // `outputs`, the pass goes only towards those edges: if `accumulate_grad`, the leaves there accumulate in .grad;
  // otherwise the gradients that arrive at the edges are returned in the order of `outputs` (undefined if none
  // arrived). Throws what a node or a hook throws. The graph has then run in part, and its saved tensors are freed in
  // part.
  variable_list execute(const edge_list& roots, variable_list inputs, bool keep_graph, bool create_graph,
                        bool accumulate_grad, const edge_list& outputs = {});

  // Runs `callback` at the end of the current pass. Throws a RuntimeError outside of a pass.
  void queue_callback(std::function<void()> callback);

 private:
  Engine() = default;
  static void compute_dependencies(Node& root, GraphTask& task, uint64_t min_topo_nr);
  void run(GraphTask& task, NodeTask root);
  void run_here(GraphTask& task, NodeTask root);
  // `ready` is the queue of the thread that started the pass; the CPU's nodes go there.
  void evaluate_function(GraphTask& task, const std::shared_ptr<Node>& fn, InputBuffer& inputs, ReadyQueue& ready);
  void enqueue(NodeTask item, ReadyQueue& ready);

  // --- accelerators
  void start_device_threads();
  [[noreturn]] void device_thread(ReadyQueue& queue);
  ReadyQueue& ready_queue(ReadyQueue& cpu_ready_queue, const NodeTask& item);
  void run_with_devices(GraphTask& task, NodeTask root);
  void run_task(NodeTask item);

  std::vector<std::unique_ptr<ReadyQueue>> device_ready_queues_; // one for each device of the accelerator
};

// Checks each gradient against the tensor that its edge leads to. A broadcast gradient is summed to the shape of the
// tensor, and another dtype is cast. Throws a RuntimeError that names `source` if the gradient does not fit then.
void validate_outputs(const edge_list& edges, variable_list& grads, const std::function<std::string()>& source);

} // namespace reftorch::torch::autograd
