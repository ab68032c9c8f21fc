// Mirrors: aten/src/ATen/native/Activation.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Generator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

enum class GeluType { None, Tanh };

// Forward kernels have one input: self. Backward kernels have two: grad, and self (or the result, where the comment of
// the stub says so). For leaky_relu_backward the order is self, grad, as in PyTorch, because the strides of the result
// follow the first input.
using activation_fn = void (*)(TensorIterator&);
using activation_gelu_fn = void (*)(TensorIterator&, GeluType approximate);
using activation_slope_fn = void (*)(TensorIterator&, const Scalar& negative_slope);
using activation_lambd_fn = void (*)(TensorIterator&, const Scalar& lambd);
using activation_bounds_fn = void (*)(TensorIterator&, const Scalar& min_val, const Scalar& max_val);
using activation_softplus_fn = void (*)(TensorIterator&, const Scalar& beta, const Scalar& threshold);
using activation_elu_fn = void (*)(TensorIterator&, const Scalar& alpha, const Scalar& scale,
                                   const Scalar& input_scale);
using activation_elu_backward_fn = void (*)(TensorIterator&, const Scalar& alpha, const Scalar& scale,
                                            const Scalar& input_scale, bool is_result);

DECLARE_DISPATCH(activation_fn, relu_stub)
// inputs: self, other. The result is other where self > threshold, else value.
DECLARE_DISPATCH(void (*)(TensorIterator&, const Scalar& threshold, const Scalar& value), threshold_stub)
DECLARE_DISPATCH(activation_slope_fn, leaky_relu_stub)
DECLARE_DISPATCH(activation_slope_fn, leaky_relu_backward_stub)
DECLARE_DISPATCH(activation_bounds_fn, hardtanh_backward_stub)
// inputs: self, weight; the backward of self has self, weight, grad, and that of weight has self, grad
DECLARE_DISPATCH(activation_fn, prelu_stub)
DECLARE_DISPATCH(activation_fn, prelu_backward_self_stub)
DECLARE_DISPATCH(activation_fn, prelu_backward_weight_stub)
// All three tensors are contiguous and have one shape.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& noise, const Tensor& self, double lower, double upper,
                          const std::optional<Generator>& generator),
                 rrelu_stub)
DECLARE_DISPATCH(activation_fn, hardsigmoid_stub)
DECLARE_DISPATCH(activation_fn, hardsigmoid_backward_stub)
DECLARE_DISPATCH(activation_fn, hardswish_stub)
DECLARE_DISPATCH(activation_fn, hardswish_backward_stub)
DECLARE_DISPATCH(activation_lambd_fn, hardshrink_stub)
DECLARE_DISPATCH(activation_lambd_fn, softshrink_stub)
DECLARE_DISPATCH(activation_lambd_fn, shrink_backward_stub)

DECLARE_DISPATCH(activation_gelu_fn, gelu_stub)
DECLARE_DISPATCH(activation_gelu_fn, gelu_backward_stub)
DECLARE_DISPATCH(activation_elu_fn, elu_stub)
DECLARE_DISPATCH(activation_elu_backward_fn, elu_backward_stub)
DECLARE_DISPATCH(activation_fn, silu_stub)
DECLARE_DISPATCH(activation_fn, silu_backward_stub)
DECLARE_DISPATCH(activation_fn, mish_stub)
DECLARE_DISPATCH(activation_fn, mish_backward_stub)
DECLARE_DISPATCH(activation_softplus_fn, softplus_stub)
DECLARE_DISPATCH(activation_softplus_fn, softplus_backward_stub)
// All three tensors are dense and have one shape.
DECLARE_DISPATCH(void (*)(const Tensor& output, const Tensor& buffer, const Tensor& self), log_sigmoid_stub)
// inputs: self, buffer, grad
DECLARE_DISPATCH(activation_fn, log_sigmoid_backward_stub)

} // namespace reftorch::at::native
