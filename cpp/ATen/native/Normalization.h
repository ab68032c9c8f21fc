// Mirrors: aten/src/ATen/native/batch_norm.h, aten/src/ATen/native/Normalization.cpp
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Where the elements of a channel lie in memory: `outer` runs of `inner` elements, the runs of all channels in turn. A
// tensor (N, C, H, W) has outer N and inner H W; with the channels last in memory it has outer N H W and inner 1.
struct ChannelLayout {
  int64_t outer, channels, inner;
};

// x, y, dy, dx: outer * channels * inner elements, in the order of the layout. All other tensors: (channels),
// contiguous unless said otherwise, of the dtype in which the kernel computes for the dtype of x. weight and bias may
// be undefined.

// Computes the mean and the biased variance of each channel.
using batch_norm_stats_fn = void (*)(const Tensor& mean, const Tensor& variance, const Tensor& x,
                                     const ChannelLayout& layout);
// y = x * scale + shift with the numbers of each channel
using batch_norm_transform_fn = void (*)(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                         const Tensor& weight, const Tensor& bias, const ChannelLayout& layout);
// running = (1 - momentum) running + momentum batch, and the same for the variance, which is made unbiased first for
// `count` elements. The running tensors may be strided, of any float dtype, or undefined.
using batch_norm_update_fn = void (*)(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                                      const Tensor& variance, double momentum, int64_t count);
// invstd = 1 / sqrt(variance + eps)
using batch_norm_invstd_fn = void (*)(const Tensor& invstd, const Tensor& variance, double eps);
// Computes those of dx, grad_weight and grad_bias that are defined. If `train`, mean and invstd were computed from x,
// so dx counts their dependence on x.
using batch_norm_backward_fn = void (*)(const Tensor& dx, const Tensor& grad_weight, const Tensor& grad_bias,
                                        const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                        const Tensor& weight, bool train, const ChannelLayout& layout);

DECLARE_DISPATCH(batch_norm_stats_fn, batch_norm_stats_stub)
DECLARE_DISPATCH(batch_norm_transform_fn, batch_norm_transform_stub)
DECLARE_DISPATCH(batch_norm_update_fn, batch_norm_update_stub)
DECLARE_DISPATCH(batch_norm_invstd_fn, batch_norm_invstd_stub)
DECLARE_DISPATCH(batch_norm_backward_fn, batch_norm_backward_stub)

} // namespace reftorch::at::native
