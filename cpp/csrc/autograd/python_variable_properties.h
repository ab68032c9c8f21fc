// Mirrors: torch/csrc/autograd/python_variable.cpp (variable_methods)
#pragma once

namespace reftorch::torch::autograd {

// Adds requires_grad_, retain_grad and _is_view to the tensor type. (Its properties are asked for when the type is
// made.)
void initVariableMethods();

} // namespace reftorch::torch::autograd
