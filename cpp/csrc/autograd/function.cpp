// Mirrors: torch/csrc/autograd/function.cpp
#include <csrc/autograd/function.h>

#include <ATen/ThreadLocalState.h>
#include <csrc/autograd/graph_task.h>

namespace reftorch::torch::autograd {

// Note [Deleting a graph]
// Problem: a node owns the nodes behind its edges. Deleting the end of a chain of 200,000 ops would nest 200,000
// destructor calls. Trick: a destructor does not destroy the nodes behind its edges. It moves them to a list of this
// thread, and the outermost destructor empties the list in a loop. A node destroys its saved values before its edges.
// While a saved value is destroyed, an edge still owns the node that made this value, so no nested destruction starts
// there.
static const at::RegisterThreadLocal<&Node::peek_sequence_nr, &Node::set_next_sequence_nr> register_sequence_nr(
    "function.h: Node::next_sequence_nr_");

using PendingNodes = c10::SmallVector<std::shared_ptr<Node>, 4>;
static thread_local PendingNodes* nodes_to_delete = nullptr;

Node::~Node() {
  PendingNodes pending;
  const bool outermost = nodes_to_delete == nullptr;
  if (outermost) {
    nodes_to_delete = &pending;
  }
  for (Edge& edge : next_edges_) {
    if (edge.function != nullptr) {
      nodes_to_delete->push_back(std::move(edge.function));
    }
  }
  if (!outermost) {
    return;
  }
  while (!pending.empty()) {
    const std::shared_ptr<Node> node = std::move(pending.back());
    pending.pop_back();
  }
  nodes_to_delete = nullptr;
}

void Node::add_next_edge(Edge edge) {
  update_topological_nr(edge);
  next_edges_.push_back(std::move(edge));
}

void Node::set_next_edge(size_t index, Edge edge) {
  update_topological_nr(edge);
  next_edges_[index] = std::move(edge);
}

AnomalyMetadata* Node::metadata() {
  return make_anomaly_metadata != nullptr ? anomaly_metadata_.get_or_make(make_anomaly_metadata) : nullptr;
}

void Node::note_creation() {
  if (AnomalyMetadata* noted = metadata()) {
    noted->store_stack();
    noted->assign_parent(GraphTask::current_node());
  }
}

void Node::visit_owned(OwnedVisitor& visitor) const {
  for (const Edge& edge : next_edges_) {
    if (edge.function != nullptr) {
      visitor.node(edge.function);
    }
  }
  if (anomaly_metadata_ != nullptr) {
    anomaly_metadata_->visit_owned(visitor);
  }
  if (hooks_ == nullptr) {
    return;
  }
  for (const auto& hook : hooks_->tensor_pre) {
    hook->visit_owned(visitor);
  }
  for (const auto& hook : hooks_->pre) {
    hook->visit_owned(visitor);
  }
  for (const auto& hook : hooks_->post) {
    hook->visit_owned(visitor);
  }
}

bool Node::task_should_compute_output(size_t index) const {
  if (!should_compute_output(index)) {
    return false;
  }
  const GraphTask* task = GraphTask::current();
  return task == nullptr || task->should_execute(next_edges_[index].function.get());
}

std::shared_ptr<FunctionPreHook> Node::pop_retains_grad_hook(uint32_t output_nr) {
  if (hooks_ == nullptr) {
    return nullptr;
  }
  std::lock_guard<c10::Mutex> lock(hooks_->mutex);
  auto& list = hooks_->retains_grad;
  for (auto it = list.begin(); it != list.end(); ++it) {
    if (it->output_nr == output_nr) {
      std::shared_ptr<FunctionPreHook> hook = std::move(it->hook);
      list.erase(it);
      return hook;
    }
  }
  return nullptr;
}

void Node::call_tensor_pre_hooks(variable_list& grads) {
  if (hooks_ == nullptr) {
    return;
  }
  for_each_hook(hooks_->mutex, hooks_->tensor_pre, [&](const auto& hook) { grads = (*hook)(grads); });
  for_each_hook(hooks_->mutex, hooks_->retains_grad, [&](const auto& entry) { grads = (*entry.hook)(grads); });
}

void Node::call_pre_hooks(variable_list& grads) {
  if (hooks_ != nullptr) {
    for_each_hook(hooks_->mutex, hooks_->pre, [&](const auto& hook) { grads = (*hook)(grads); });
  }
}

void Node::call_post_hooks(variable_list& outputs, const variable_list& inputs) {
  if (hooks_ != nullptr) {
    for_each_hook(hooks_->mutex, hooks_->post, [&](const auto& hook) { outputs = (*hook)(outputs, inputs); });
  }
}

static bool on_accelerator(const InputMetadata& metadata) {
  return at::isAccelerator(metadata.device().type());
}

at::Device Node::device() const {
  const auto found = std::find_if(input_metadata_.begin(), input_metadata_.end(), on_accelerator);
  return found == input_metadata_.end() ? at::Device() : found->device();
}

std::optional<c10::Stream> Node::stream() const {
  const auto found = std::find_if(input_metadata_.begin(), input_metadata_.end(), on_accelerator);
  return found == input_metadata_.end() ? std::nullopt : std::make_optional(found->stream());
}

} // namespace reftorch::torch::autograd
