// Mirrors: torch/csrc/autograd/grad_mode.h
//
// The grad mode as functions of the library. c10::GradMode is a variable in a header; an extension that includes the
// header gets a variable of its own, because the library's symbols are hidden.
#pragma once

#include <c10/macros/Export.h>

namespace reftorch::torch::autograd {

TORCH_API bool grad_mode_is_enabled();
TORCH_API void set_grad_mode(bool enabled);

} // namespace reftorch::torch::autograd
