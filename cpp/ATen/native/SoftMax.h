// Mirrors: aten/src/ATen/native/cpu/SoftmaxKernel.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/ReduceOps.h>

namespace reftorch::at::native {

// All tensors are contiguous and have one shape; `shape` is this shape around the softmax dimension.
using softmax_fn = void (*)(const Tensor& output, const Tensor& input, DimShape shape);
using softmax_backward_fn = void (*)(const Tensor& grad_input, const Tensor& grad, const Tensor& output,
                                     DimShape shape);
DECLARE_DISPATCH(softmax_fn, softmax_kernel)
DECLARE_DISPATCH(softmax_fn, log_softmax_kernel)
DECLARE_DISPATCH(softmax_backward_fn, softmax_backward_kernel)
DECLARE_DISPATCH(softmax_backward_fn, log_softmax_backward_kernel)

} // namespace reftorch::at::native
