// Mirrors: torch/csrc/autograd/input_buffer.h
// The gradients on their way to one node, summed as they arrive. Left out: streams, sparse gradients.
#pragma once

#include <csrc/autograd/function_hook.h>

namespace reftorch::torch::autograd {

struct InputBuffer final {
  explicit InputBuffer(size_t size) : buffer(size) {}

  // Adds `var` to what input `pos` has received so far; an undefined tensor counts as zero.
  void add(size_t pos, Variable var);

  variable_list buffer;
};

} // namespace reftorch::torch::autograd
