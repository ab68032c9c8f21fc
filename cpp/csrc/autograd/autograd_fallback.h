// Mirrors: torch/csrc/autograd/autograd_not_implemented_fallback.h, and what tools/autograd/gen_variable_type.py writes
// for each op
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch::autograd {

// The kernel of the Autograd key for every op that is not made of others. It records the call in the graph if a
// gradient is wanted, calls the kernel below with Autograd excluded, counts versions of what was written, and tracks
// views.
TORCH_API void autograd_fallback(const at::OperatorHandle& op, c10::DispatchKeySet keys, at::Stack* stack);

} // namespace reftorch::torch::autograd
