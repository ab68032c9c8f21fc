// Mirrors: torch/csrc/autograd/python_variable.cpp (variable_methods)
#pragma once

namespace reftorch::torch::autograd {

// Adds the methods requires_grad_, retain_grad, is_inference and _is_view to the tensor type. The properties are added
// when the type is made (THPVariable_autograd_properties).
void initVariableMethods();

} // namespace reftorch::torch::autograd
