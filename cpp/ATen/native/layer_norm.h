// Mirrors: aten/src/ATen/native/layer_norm.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// All tensors are contiguous. input, output, grad: (M, N). mean, rstd: (M) and weight, bias: (N), in the type that the
// kernel computes in for the dtype of input; weight and bias may be undefined.
using layer_norm_fn = void (*)(const Tensor& output, const Tensor& mean, const Tensor& rstd, const Tensor& input,
                               const Tensor& weight, const Tensor& bias, int64_t M, int64_t N, double eps);
// Computes those of grad_input, grad_weight and grad_bias that are defined. grad_weight, grad_bias: (N), in the
// computing type.
using layer_norm_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias,
                                        const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                        const Tensor& weight, int64_t M, int64_t N);
DECLARE_DISPATCH(layer_norm_fn, LayerNormKernel)
DECLARE_DISPATCH(layer_norm_backward_fn, LayerNormBackwardKernel)

} // namespace reftorch::at::native
