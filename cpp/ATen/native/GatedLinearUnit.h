// Mirrors: aten/src/ATen/native/Activation.h (glu_stub, glu_backward_stub)
#pragma once

#include <ATen/native/Activation.h>

namespace reftorch::at::native {

// a sigmoid(b). inputs: a, b
DECLARE_DISPATCH(activation_fn, glu_stub)
// The gradient of b: grad a sigmoid(b) (1 - sigmoid(b)). inputs: a, b, grad
DECLARE_DISPATCH(activation_fn, glu_backward_stub)

} // namespace reftorch::at::native
