// Mirrors: torch/csrc/autograd/anomaly_mode.h
//
// Anomaly mode finds the call of the forward pass that made a failing node. Left out: nothing.
#pragma once

#include <c10/macros/Export.h>

#include <atomic>
#include <memory>
#include <string>

namespace reftorch::torch::autograd {

struct Node;
struct OwnedVisitor;

// Note [Anomaly mode]
// Problem: an error in the backward pass shows the stack of backward(), but the faulty line is in the forward pass,
// which has long returned. Trick: while the mode is on, each Node stores the Python stack that made it in its metadata.
// When a node throws, or returns a NaN, the engine warns with that stack. A node that is made inside a backward pass
// (create_graph) also stores the node that was running, so that the warning can go on to the forward pass of that node.
// While the mode is off, it costs one load per node.
struct TORCH_API AnomalyMode {
  static bool is_enabled() {
    return enabled_.load(std::memory_order_relaxed);
  }
  static bool should_check_nan() {
    return check_nan_.load(std::memory_order_relaxed);
  }
  static void set_enabled(bool enabled, bool check_nan) {
    enabled_.store(enabled, std::memory_order_relaxed);
    check_nan_.store(check_nan, std::memory_order_relaxed);
  }

 private:
  static std::atomic<bool> enabled_;
  static std::atomic<bool> check_nan_;
};

// The stack and the parent that anomaly mode stores for a node. The class is an interface, so that nodes need no
// Python. The Python implementation keeps everything in the dict that `node.metadata` returns.
struct TORCH_API AnomalyMetadata {
  virtual ~AnomalyMetadata() = default;
  virtual void store_stack() = 0;
  virtual void assign_parent(const std::shared_ptr<Node>& parent) = 0;
  // Warns with the stored stacks of this node and its parents.
  virtual void print_stack(const std::string& node_name) = 0;
  virtual void visit_owned(OwnedVisitor& visitor) const = 0;
};

// Makes the metadata of a node. python_anomaly_mode.cpp sets the function; in a program without Python it is null, and
// nothing is stored.
TORCH_API extern std::unique_ptr<AnomalyMetadata> (*make_anomaly_metadata)();

} // namespace reftorch::torch::autograd
