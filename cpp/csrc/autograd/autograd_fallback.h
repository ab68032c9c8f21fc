// Mirrors: torch/csrc/autograd/autograd_not_implemented_fallback.h, tools/autograd/gen_variable_type.py
//
// Declares the Autograd kernel of every op that has no kernel of its own for that key.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::torch::autograd {

// Runs one op under autograd. It records the call in the graph if a gradient is wanted, calls the kernel below with
// Autograd excluded, bumps the versions of the written tensors, and tracks views. Composite ops do not come here.
TORCH_API void autograd_fallback(const at::OperatorHandle& op, c10::DispatchKeySet keys, at::Stack* stack);

} // namespace reftorch::torch::autograd
