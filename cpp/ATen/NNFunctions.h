// Mirrors: aten/src/ATen/templates/Functions.h
// The C++ callers' door to the ops of networks: the rest of ATen/Functions.h.
#pragma once

#include <ATen/Functions.h>

namespace reftorch::at {

TORCH_API Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val);
TORCH_API Tensor& hardtanh_(Tensor& self, const Scalar& min_val, const Scalar& max_val);
TORCH_API Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale = 1, const Scalar& input_scale = 1);
TORCH_API Tensor& elu_(Tensor& self, const Scalar& alpha, const Scalar& scale = 1, const Scalar& input_scale = 1);
TORCH_API std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self);
TORCH_API std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                               const std::optional<Tensor>& weight,
                                                               const std::optional<Tensor>& bias, double eps);

} // namespace reftorch::at
