// Mirrors: torch/csrc/autograd/engine.cpp
//
// This file is more than 500 lines long because a backward pass is one subject: which node runs next, on which thread
// and stream, and where its gradients go.
#include <csrc/autograd/engine.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Functions.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Mutex.h>
#include <c10/util/thread_name.h>
#include <csrc/autograd/functions/basic_ops.h>
#include <csrc/autograd/saved_variable_hooks.h>

#include <exception>
#include <optional>
#include <string>
#include <thread>

namespace reftorch::torch::autograd {

// Note [Backward pass]
// 1. Count how many edges lead to each node that can be reached from the roots (compute_dependencies).
// 2. Put the root into the ready queue.
// 3. Take the ready node with the highest sequence number and run it. Add each gradient that it returns to the
//    InputBuffer of the node that the edge leads to, and decrement the count of that node. A node whose count reaches
//    zero has all its gradients and is ready. Repeat until the queue is empty.
//
// Note [Locks and the GIL]
// Two passes on two threads may reach one node. The node's mutex_ guards its saved variables and, for AccumulateGrad,
// the .grad of the leaf. The engine runs without Python's GIL. A formula, a hook and a custom Function take the GIL,
// and so does the deletion of a tensor that has a Python object. A deadlock follows if one thread holds the GIL and
// waits for a mutex while another thread holds the mutex and waits for the GIL. So there are two rules. FormulaNode,
// which locks its mutex_ with the GIL held, only copies or swaps tensors under the lock and drops them after unlocking.
// AccumulateGrad, which may drop a tensor or enter Python under its mutex_, locks the mutex_ only while the GIL is not
// held. See Note [Python under the lock of a leaf] for what enters Python.

// Note [Device threads]
// Problem: a graph may lie on several devices. If one thread ran all of the graph, a node that waits for one device
// would keep the other devices idle. Trick: as in PyTorch, every device of the accelerator has a thread and a ready
// queue, which all passes share. A node of that device is pushed into its queue; the CPU's nodes stay with the thread
// that started the pass. That thread runs the nodes in its queue, and waits for more, until no node of the pass is in a
// queue or running. An error does not end the pass at once: the nodes that are still in queues are taken out without
// being run. So the GraphTask, which lives on the caller's stack, outlives its nodes. A node on a device's thread may
// start another pass. The thread then stays inside that node and goes on running what arrives in its queue, also nodes
// of other passes, because two devices may each wait for the other. With set_multithreading_enabled(False) the thread
// that started the pass runs the devices' nodes too, each on the device and stream of its forward. A pass that reaches
// no accelerator has one thread, one queue and no lock.

static bool runs_later(const NodeTask& a, const NodeTask& b) {
  if (a.fn_ == nullptr || b.fn_ == nullptr) {
    return a.fn_ != nullptr; // a task that only wakes the thread comes first
  }
  return a.fn_->sequence_nr() < b.fn_->sequence_nr();
}

void ReadyQueue::push(NodeTask item) {
  const auto guard = lock();
  heap_.push_back(std::move(item));
  std::push_heap(heap_.begin(), heap_.end(), runs_later);
  if (shared_) {
    not_empty_.notify_one();
  }
}

NodeTask ReadyQueue::pop() {
  auto guard = lock();
  if (shared_) {
    not_empty_.wait(guard, [this] { return !heap_.empty(); });
  }
  std::pop_heap(heap_.begin(), heap_.end(), runs_later);
  NodeTask item = std::move(heap_.back());
  heap_.pop_back();
  return item;
}

Engine& Engine::get_default_engine() {
  static Engine* const engine = new Engine; // never destroyed: device threads use the engine until the program ends
  return *engine;
}

static void validate_output(const Edge& edge, Variable& grad, size_t index,
                            const std::function<std::string()>& source) {
  const InputMetadata& metadata = edge.function->input_metadata(edge.input_nr);
  if (!metadata.defined()) {
    return;
  }
  if (!metadata.is_same_shape(grad)) {
    TORCH_CHECK(metadata.is_expandable_to_shape(grad), source(), " returned an invalid gradient at index ", index,
                " - got ", grad.sizes(), " but expected shape compatible with ", metadata.shape());
    grad = metadata.reduce_grad(grad);
  }
  if (grad.scalar_type() != metadata.grad_dtype() && metadata.grad_dtype() != at::ScalarType::Undefined) {
    grad = at::to(grad, metadata.grad_dtype());
  }
  // A 0-dim CPU tensor may be multiplied by a tensor on a device, so its gradient is computed there, and returns here.
  if (grad.device() != metadata.device() && grad.dim() == 0) {
    grad = at::_to_copy(grad, std::nullopt, metadata.device());
  }
  TORCH_CHECK(grad.device() == metadata.device(), source(), " returned an invalid gradient at index ", index,
              " - expected device ", metadata.device(), " but got ", grad.device());
}

void validate_outputs(const edge_list& edges, variable_list& grads, const std::function<std::string()>& source) {
  TORCH_CHECK(grads.size() == edges.size(), source(), " returned an incorrect number of gradients (expected ",
              edges.size(), ", got ", grads.size(), ")");
  for (size_t i = 0; i < grads.size(); i++) {
    if (!edges[i].is_valid() || !grads[i].defined()) {
      continue;
    }
    validate_output(edges[i], grads[i], i, source);
  }
}

// These guards set the thread's state for a pass or a node, and restore the former state even if a node throws.
namespace {

thread_local int nested_passes = 0;
// The queue of the device that this thread works for; null on other threads.
thread_local ReadyQueue* device_thread_queue = nullptr;

class GraphTaskGuard final {
 public:
  explicit GraphTaskGuard(GraphTask* task) : former_(GraphTask::set_current(task)) {
    nested_passes++;
  }
  ~GraphTaskGuard() {
    nested_passes--;
    GraphTask::set_current(former_);
  }

 private:
  GraphTask* former_;
};

class CurrentNodeGuard final {
 public:
  explicit CurrentNodeGuard(const std::shared_ptr<Node>* node) : former_(GraphTask::set_current_node(node)) {}
  ~CurrentNodeGuard() {
    GraphTask::set_current_node(former_);
  }

 private:
  const std::shared_ptr<Node>* former_;
};

// Restores the default hooks on saved tensors after the pass, because a node may add or remove some.
class SavedTensorHooksGuard final {
 public:
  SavedTensorHooksGuard() {
    if (SavedTensorDefaultHooks::is_enabled()) {
      former_ = SavedTensorDefaultHooks::get_state();
    }
  }
  ~SavedTensorHooksGuard() {
    if (former_.has_value()) {
      SavedTensorDefaultHooks::set_state(std::move(*former_));
    } else if (SavedTensorDefaultHooks::is_enabled()) {
      SavedTensorDefaultHooks::State state = SavedTensorDefaultHooks::get_state();
      state.stack.clear();
      SavedTensorDefaultHooks::set_state(std::move(state));
    }
  }

 private:
  std::optional<SavedTensorDefaultHooks::State> former_;
};

// The current device and the current streams of a thread, for the accelerator of this build.
class CurrentStreams final {
 public:
  explicit CurrentStreams(const c10::impl::DeviceGuardImplInterface* device)
      : impl_(device), device_(device->getDevice()) {
    for (c10::DeviceIndex i = 0; i < device->deviceCount(); i++) {
      streams_.push_back(device->getStream(c10::Device(device->type(), i)));
    }
  }
  // Makes this device and these streams the calling thread's current ones.
  void set() const {
    for (const c10::Stream& stream : streams_) {
      impl_->exchangeStream(stream);
    }
    impl_->setDevice(device_);
  }

 private:
  const c10::impl::DeviceGuardImplInterface* impl_;
  c10::Device device_;
  std::vector<c10::Stream> streams_;
};

const c10::impl::DeviceGuardImplInterface* accelerator() {
  return c10::impl::getDeviceGuardImpl(*at::getAccelerator(/*checked=*/true));
}

// Runs `work` on a new thread, with a copy of the state of this thread, and waits for the end. An exception of `work`
// is rethrown on this thread.
template <typename Work>
void run_on_fresh_stack(const GraphTask& task, Work&& work) {
  const at::ThreadLocalState state;
  const std::shared_ptr<Node> node = GraphTask::current_node();
  ReadyQueue* const device_queue = device_thread_queue;
  std::optional<CurrentStreams> streams;
  if (task.uses_accelerator_) {
    streams.emplace(accelerator());
  }
  std::exception_ptr error;
  std::thread thread([&] {
    c10::setThreadName("pt_fresh_stack");
    try {
      const at::ThreadLocalStateGuard state_guard(state);
      const CurrentNodeGuard node_guard(&node);
      device_thread_queue = device_queue;
      if (streams.has_value()) {
        streams->set();
      }
      work();
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error != nullptr) {
    std::rethrow_exception(error);
  }
}

} // namespace

variable_list Engine::execute(const edge_list& roots, variable_list inputs, bool keep_graph, bool create_graph,
                              bool accumulate_grad, const edge_list& outputs) {
  validate_outputs(roots, inputs, [] { return std::string("backward()"); });

  std::shared_ptr<Node> root;
  InputBuffer root_inputs(0);
  if (roots.size() == 1) {
    root = roots[0].function;
    root_inputs = InputBuffer(root->num_inputs());
    root_inputs.add(roots[0].input_nr, std::move(inputs[0]), root->stream());
  } else {
    root = std::make_shared<GraphRoot>(roots, std::move(inputs));
  }

  GraphTask task(keep_graph, create_graph);
  task.roots_ = &roots;
  uint64_t min_topo_nr = outputs.empty() ? 0 : UINT64_MAX;
  for (const Edge& edge : outputs) {
    min_topo_nr = std::min(min_topo_nr, edge.function->topological_nr());
  }
  compute_dependencies(*root, task, min_topo_nr);
  if (!outputs.empty()) {
    task.init_to_execute(*root, outputs, accumulate_grad, min_topo_nr);
  }

  NodeTask first{&task, std::move(root), std::move(root_inputs)};
  if (nested_passes < kMaxReentrantDepth) {
    run(task, std::move(first));
  } else {
    run_on_fresh_stack(task, [&] { run(task, std::move(first)); });
  }
  return std::move(task.captured_vars_);
}

void Engine::run(GraphTask& task, NodeTask root) {
  const GraphTaskGuard guard(&task);
  const SavedTensorHooksGuard hooks_guard;
  const c10::AutoGradMode grad_mode(task.create_graph_);
  if (task.uses_accelerator_) {
    run_with_devices(task, std::move(root));
  } else {
    run_here(task, std::move(root));
  }
  TORCH_INTERNAL_ASSERT(task.not_ready_.empty(), "could not compute gradients for some functions");

  for (size_t i = 0; i < task.final_callbacks_.size(); i++) { // a callback may queue another callback
    task.final_callbacks_[i]();
  }
}

void Engine::run_here(GraphTask& task, NodeTask root) {
  ReadyQueue ready(/*shared=*/false);
  ready.push(std::move(root));
  while (!ready.empty()) {
    NodeTask next = ready.pop();
    evaluate_function(task, next.fn_, next.inputs_, ready);
  }
}

void Engine::enqueue(NodeTask item, ReadyQueue& ready) {
  if (item.base_->uses_accelerator_) {
    item.base_->outstanding_tasks_++;
    ReadyQueue& queue = ready_queue(ready, item);
    queue.push(std::move(item));
  } else {
    ready.push(std::move(item));
  }
}

// ---- accelerators: see Note [Device threads]

void Engine::start_device_threads() {
  // The first call starts the threads, and keeps the fork generation of the process that has them.
  static const uint32_t generation = [this] {
    const c10::impl::DeviceGuardImplInterface* const device = accelerator();
    const c10::DeviceIndex count = device->deviceCount();
    for (c10::DeviceIndex i = 0; i < count; i++) {
      device_ready_queues_.push_back(std::make_unique<ReadyQueue>(/*shared=*/true));
    }
    for (c10::DeviceIndex i = 0; i < count; i++) {
      std::thread([this, device, i] {
        c10::setThreadName("pt_autograd_" + std::to_string(i));
        device->uncheckedSetDevice(c10::Device(device->type(), i));
        device_thread(*device_ready_queues_[i]);
      }).detach();
    }
    return c10::fork_generation();
  }();
  TORCH_CHECK(generation == c10::fork_generation(),
              "Unable to handle autograd's threading in combination with fork-based multiprocessing. See "
              "https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork");
}

void Engine::device_thread(ReadyQueue& queue) {
  device_thread_queue = &queue;
  while (true) {
    run_task(queue.pop());
  }
}

ReadyQueue& Engine::ready_queue(ReadyQueue& cpu_ready_queue, const NodeTask& item) {
  const c10::Device device = item.fn_->device();
  return item.base_->multithreaded_ && at::isAccelerator(device.type()) ? *device_ready_queues_.at(device.index())
                                                                        : cpu_ready_queue;
}

void Engine::run_with_devices(GraphTask& task, NodeTask root) {
  if (task.multithreaded_) {
    start_device_threads();
  }
  const at::ThreadLocalState state;
  task.thread_locals_ = &state;
  ReadyQueue own(/*shared=*/true);
  ReadyQueue& queue = device_thread_queue != nullptr ? *device_thread_queue : own;
  task.owner_queue_ = &queue;
  {
    const auto guard = task.lock();
    enqueue(std::move(root), queue);
  }
  const auto is_done = [&task] {
    const auto guard = task.lock();
    return task.outstanding_tasks_ == 0;
  };
  while (!is_done()) {
    run_task(queue.pop());
  }
  if (task.error_ != nullptr) {
    std::rethrow_exception(task.error_);
  }
  for (const c10::Stream& leaf_stream : task.leaf_streams_) {
    const c10::Stream current = accelerator()->getStream(leaf_stream.device());
    if (current != leaf_stream) {
      c10::Event event(leaf_stream.device_type());
      event.record(leaf_stream);
      current.wait(event);
    }
  }
}

// Runs one node of any pass, on the thread that the node belongs to.
void Engine::run_task(NodeTask item) {
  if (item.fn_ == nullptr) {
    return;
  }
  GraphTask& task = *item.base_;
  const auto failed = [&task] {
    const auto guard = task.lock();
    return task.error_ != nullptr;
  };
  try {
    if (!failed()) {
      const at::ThreadLocalStateGuard state(*task.thread_locals_);
      const GraphTaskGuard guard(&task);
      const SavedTensorHooksGuard hooks_guard;
      const c10::AutoGradMode grad_mode(task.create_graph_);
      const c10::OptionalStreamGuard stream(item.fn_->stream());
      evaluate_function(task, item.fn_, item.inputs_, *task.owner_queue_);
    }
  } catch (...) {
    const auto guard = task.lock();
    if (task.error_ == nullptr) {
      task.error_ = std::current_exception();
    }
  }
  // Drop the node and its gradients before the count goes down: once the count is 0, `task` may be deleted, and the
  // destructors that run here may still need the pass.
  item.fn_.reset();
  item.inputs_.buffer.clear();
  const auto guard = task.lock();
  if (--task.outstanding_tasks_ == 0) {
    task.owner_queue_->push(NodeTask{nullptr, nullptr, InputBuffer(0)}); // wakes the thread that started the pass
  }
}

void Engine::compute_dependencies(Node& root, GraphTask& task, uint64_t min_topo_nr) {
  std::vector<Node*> pending{&root};
  task.nodes_in_graph_.insert(&root);
  while (!pending.empty()) {
    Node* fn = pending.back();
    pending.pop_back();
    task.uses_accelerator_ |= at::isAccelerator(fn->device().type());
    if (fn->topological_nr() < min_topo_nr) {
      continue;
    }
    for (const Edge& edge : fn->next_edges()) {
      if (Node* next = edge.function.get()) {
        task.dependencies_[next]++;
        if (task.nodes_in_graph_.insert(next).second) {
          pending.push_back(next);
        }
      }
    }
  }
}

static void check_nan(const Node& fn, const variable_list& outputs) {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < outputs.size(); i++) {
    const Variable output = at::functorch::innermost(outputs[i]); // under vmap, check all examples at once
    TORCH_CHECK(!output.defined() || at::all(at::eq(output, output)).item().toBool(), "Function '", fn.name(),
                "' returned nan values in its ", i, "th output.");
  }
}

// Runs the node inside a profiler event of its own, so that a profile shows the node's time apart from the engine's.
static variable_list run_recorded(Node& fn, variable_list&& inputs) {
  std::optional<at::RecordFunction> record;
  if (at::RecordFunction::is_enabled()) {
    record.emplace(fn.name(), static_cast<int64_t>(fn.sequence_nr()), true);
  }
  return fn(std::move(inputs));
}

static variable_list call_function(const GraphTask& task, Node& fn, InputBuffer& input_buffer) {
  fn.call_pre_hooks(input_buffer.buffer);
  variable_list inputs_for_hooks;
  if (fn.has_post_hooks()) {
    inputs_for_hooks = input_buffer.buffer;
  }
  variable_list outputs = run_recorded(fn, std::move(input_buffer.buffer));
  validate_outputs(fn.next_edges(), outputs, [&fn] { return "Function " + fn.name(); });
  if (fn.has_post_hooks()) {
    fn.call_post_hooks(outputs, inputs_for_hooks);
  }
  if (!task.keep_graph_) {
    fn.release_variables();
  }
  return outputs;
}

// Under anomaly mode, warns with the stack that made the node before the error goes on.
static variable_list call_function_watched(const GraphTask& task, Node& fn, InputBuffer& inputs) {
  try {
    variable_list outputs = call_function(task, fn, inputs);
    if (AnomalyMode::should_check_nan()) {
      check_nan(fn, outputs);
    }
    return outputs;
  } catch (...) {
    if (AnomalyMetadata* noted = fn.metadata()) {
      noted->print_stack(fn.name());
    }
    throw;
  }
}

void Engine::evaluate_function(GraphTask& task, const std::shared_ptr<Node>& fn, InputBuffer& inputs,
                               ReadyQueue& ready) {
  const CurrentNodeGuard current_node(&fn);
  std::optional<at::RecordFunction> record;
  if (at::RecordFunction::is_enabled()) {
    record.emplace("autograd::engine::evaluate_function: " + fn->name(), static_cast<int64_t>(fn->sequence_nr()), true);
  }
  fn->call_tensor_pre_hooks(inputs.buffer);

  if (!task.exec_info_.empty()) {
    const auto found = task.exec_info_.find(fn.get());
    if (found == task.exec_info_.end()) {
      return; // this node is a root from which no wanted input can be reached
    }
    const GraphTask::ExecInfo& info = found->second;
    if (!info.captures_.empty()) {
      const auto guard = task.lock();
      for (const auto& capture : info.captures_) {
        task.captured_vars_[capture.output_idx] = inputs.buffer[capture.input_idx];
      }
      task.note_leaf_stream(*fn);
    }
    if (!info.needed_) {
      return;
    }
  }

  variable_list outputs = __builtin_expect(AnomalyMode::is_enabled(), 0) ? call_function_watched(task, *fn, inputs)
                                                                         : call_function(task, *fn, inputs);

  const auto stream_of = [&task](const Node& node) { // a pass without an accelerator skips the search
    return task.uses_accelerator_ ? node.stream() : std::nullopt;
  };
  const auto guard = task.lock();
  if (outputs.empty()) {
    task.note_leaf_stream(*fn);
  }
  for (size_t i = 0; i < outputs.size(); i++) {
    const Edge& next = fn->next_edge(i);
    Node* const next_fn = next.function.get();
    if (next_fn == nullptr) {
      continue;
    }
    auto dependency = task.dependencies_.find(next_fn);
    TORCH_INTERNAL_ASSERT(dependency != task.dependencies_.end(), "dependency not found for ", next_fn->name());
    const bool is_ready = --dependency->second == 0;
    if (is_ready) {
      task.dependencies_.erase(dependency);
    }
    if (!task.should_execute(next_fn)) {
      continue;
    }
    auto waiting = task.not_ready_.find(next_fn);
    if (waiting == task.not_ready_.end()) {
      InputBuffer buffer(next_fn->num_inputs());
      buffer.add(next.input_nr, std::move(outputs[i]), stream_of(*next_fn));
      if (is_ready) {
        enqueue({&task, next.function, std::move(buffer)}, ready);
      } else {
        task.not_ready_.emplace(next_fn, std::move(buffer));
      }
    } else {
      waiting->second.add(next.input_nr, std::move(outputs[i]), stream_of(*next_fn));
      if (is_ready) {
        enqueue({&task, next.function, std::move(waiting->second)}, ready);
        task.not_ready_.erase(waiting);
      }
    }
  }
}

void Engine::queue_callback(std::function<void()> callback) {
  GraphTask* task = GraphTask::current();
  TORCH_CHECK(task != nullptr, "Final callbacks can only be installed during backward pass.");
  std::lock_guard<std::mutex> guard(task->final_callbacks_mutex_);
  task->final_callbacks_.push_back(std::move(callback));
}

} // namespace reftorch::torch::autograd
