// Mirrors: torch/csrc/autograd/anomaly_mode.h
// Debugging a backward pass: which call of the forward made the node that fails? Left out: nothing.
#pragma once

#include <c10/macros/Export.h>

#include <atomic>
#include <memory>
#include <string>

namespace reftorch::torch::autograd {

struct Node;
struct OwnedVisitor;

// Note [Anomaly mode]
// Problem: an error in backward shows the stack of backward(); the line to blame is in the forward, long returned.
// Trick: while the mode is on, each Node notes the Python stack that made it, in its metadata; when a node throws, or
// makes a NaN, the engine warns with that stack. A node made inside a backward pass (create_graph) also notes the node
// that was running, so that the trail goes on to the forward of that one. Off, it costs one load per node.
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

// What is noted of a node; an interface, so that nodes need no Python. Its `metadata` dict is the same object.
struct TORCH_API AnomalyMetadata {
  virtual ~AnomalyMetadata() = default;
  virtual void store_stack() = 0;
  virtual void assign_parent(const std::shared_ptr<Node>& parent) = 0;
  // Warns with what was stored, for this node and its parents.
  virtual void print_stack(const std::string& node_name) = 0;
  virtual void visit_owned(OwnedVisitor& visitor) const = 0;
};

// Set by python_anomaly_mode.cpp; null in a program without Python, where nothing is noted.
TORCH_API extern std::unique_ptr<AnomalyMetadata> (*make_anomaly_metadata)();

} // namespace reftorch::torch::autograd
