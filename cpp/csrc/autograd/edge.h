// Mirrors: torch/csrc/autograd/edge.h
#pragma once

#include <cstdint>
#include <memory>

namespace reftorch::torch::autograd {

struct Node;

// An edge of the backward graph: the gradient goes to input `input_nr` of `function`. An edge without a function leads
// nowhere, because no gradient is wanted there.
struct Edge {
  Edge() noexcept = default;
  Edge(std::shared_ptr<Node> function_, uint32_t input_nr_) noexcept
      : function(std::move(function_)), input_nr(input_nr_) {}

  bool is_valid() const noexcept {
    return function != nullptr;
  }
  bool operator==(const Edge& other) const noexcept {
    return function == other.function && input_nr == other.input_nr;
  }

  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
};

} // namespace reftorch::torch::autograd
