// Mirrors: torch/csrc/profiler/util.h (computeFlops)
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch::profiler {

// Returns the number of floating point operations of a call, whose arguments are the last values of the stack. A
// multiplication and the addition of its result count as two. Known are mm, addmm, bmm, baddbmm and conv2d, and mul and
// add, which take one operation for each element of the first argument. Other ops: 0.
int64_t compute_flops(const at::OperatorHandle& op, const at::Stack& stack);

} // namespace reftorch::torch::profiler
