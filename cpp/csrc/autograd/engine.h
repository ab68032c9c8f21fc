// Mirrors: torch/csrc/autograd/engine.h
//
// Runs backward passes. The nodes of the CPU run on the thread that asked for the pass, those of an accelerator on a
// thread of that device (Note [Device threads]). The caller waits until the pass is done. Passes of several threads may
// run at once, also on graphs that share nodes. A node may start another pass ("re-entrant"), which runs to its end
// inside the first pass; past kMaxReentrantDepth it runs on a thread of its own, whose stack is fresh.
// Left out: checkpoint validity, compiled autograd.
#pragma once

#include <csrc/autograd/graph_task.h>

#include <condition_variable>
#include <string>

namespace reftorch::torch::autograd {

// So many passes may be nested on one thread's stack (60 in PyTorch too).
constexpr int kMaxReentrantDepth = 60;

// A node with its gradients. Without a node it only wakes the thread that takes it.
struct NodeTask final {
  GraphTask* base_;
  std::shared_ptr<Node> fn_;
  InputBuffer inputs_;
};

// Nodes that have all their gradients; the one recorded last comes first. See Note [Sequence number].
class ReadyQueue final {
 public:
  // A queue that only one thread uses takes no lock.
  explicit ReadyQueue(bool shared) : shared_(shared) {}
  void push(NodeTask item);
  // Takes the first node. A shared queue waits for one.
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

  // Sends `inputs`, the gradients at `roots`, through the graph. With `outputs`, only towards those edges, and unless
  // `accumulate_grad` the gradients that arrive there are returned, in their order (undefined where none arrived);
  // otherwise leaves accumulate in .grad. Throws what a node or hook throws; the graph is then partly run and partly
  // freed.
  variable_list execute(const edge_list& roots, variable_list inputs, bool keep_graph, bool create_graph,
                        bool accumulate_grad, const edge_list& outputs = {});

  // For use inside a pass: `callback` runs at its end. RuntimeError outside of backward.
  void queue_callback(std::function<void()> callback);

 private:
  Engine() = default;
  static void compute_dependencies(Node& root, GraphTask& task, uint64_t min_topo_nr);
  void run(GraphTask& task, NodeTask root);
  void run_here(GraphTask& task, NodeTask root);
  // `ready` is the queue of the thread that started the pass: the nodes of the CPU go there.
  void evaluate_function(GraphTask& task, const std::shared_ptr<Node>& fn, InputBuffer& inputs, ReadyQueue& ready);
  void enqueue(NodeTask item, ReadyQueue& ready);

  // --- accelerators
  void start_device_threads();
  [[noreturn]] void device_thread(ReadyQueue& queue);
  ReadyQueue& ready_queue(ReadyQueue& cpu_ready_queue, c10::Device device);
  void run_with_devices(GraphTask& task, NodeTask root);
  void run_task(NodeTask item);

  std::vector<std::unique_ptr<ReadyQueue>> device_ready_queues_; // one for each device of the accelerator
};

// Checks each gradient against the tensor that its edge leads to. A broadcast gradient is summed, another dtype is
// cast. Throws a RuntimeError that names `source` where neither makes the gradient fit.
void validate_outputs(const edge_list& edges, variable_list& grads, const std::function<std::string()>& source);

} // namespace reftorch::torch::autograd
