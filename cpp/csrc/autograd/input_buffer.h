// Mirrors: torch/csrc/autograd/input_buffer.h
//
// The gradients for one node, summed as they arrive. Left out: sparse gradients.
#pragma once

#include <c10/core/Stream.h>
#include <csrc/autograd/function_hook.h>

#include <optional>

namespace reftorch::torch::autograd {

struct InputBuffer final {
  explicit InputBuffer(size_t size) : buffer(size) {}

  // Adds `var` to the gradient that input `pos` has received so far; an undefined tensor counts as zero. `consumer` is
  // the stream of the node that this buffer belongs to. See Note [Streaming backwards].
  void add(size_t pos, Variable var, const std::optional<c10::Stream>& consumer = std::nullopt);

  variable_list buffer;
};

} // namespace reftorch::torch::autograd
