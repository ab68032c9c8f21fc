// Mirrors: aten/src/ATen/native/cpu/batch_norm_kernel.cpp
//
// The steps of batch normalization. The loops over the elements are in BatchNormRows.h; this file has what is computed
// for each channel.
#include <ATen/Dispatch.h>
#include <ATen/native/cpu/BatchNormRows.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

// mean, variance (C), x in the layout. Two passes: the variance of large numbers would lose all digits in one.
void batch_norm_stats_kernel(const Tensor& mean, const Tensor& variance, const Tensor& x, const ChannelLayout& l) {
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* in = x.data_ptr<scalar_t>();
    scalar_t *means = mean.data_ptr<scalar_t>(), *variances = variance.data_ptr<scalar_t>();
    const double count = double(l.outer * l.inner);
    std::vector<double> sums(static_cast<size_t>(l.channels));
    std::vector<scalar_t> zeros(static_cast<size_t>(l.channels));
    channel::sum_channels(sums.data(), in, in, zeros.data(), l, [](scalar_t a, scalar_t, scalar_t) { return a; });
    for (int64_t c = 0; c < l.channels; c++) {
      means[c] = scalar_t(sums[c] / count);
    }
    channel::sum_channels(sums.data(), in, in, means, l,
                          [](scalar_t a, scalar_t, scalar_t m) { return (a - m) * (a - m); });
    for (int64_t c = 0; c < l.channels; c++) {
      variances[c] = scalar_t(sums[c] / count);
    }
  });
}

void batch_norm_invstd_kernel(const Tensor& invstd, const Tensor& variance, double eps) {
  dispatch<FloatingTypes>(variance.scalar_type(), "batch_norm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* in = variance.data_ptr<scalar_t>();
    std::transform(in, in + variance.numel(), invstd.data_ptr<scalar_t>(),
                   [eps](scalar_t v) { return scalar_t(1 / std::sqrt(double(v) + eps)); });
  });
}

void move_towards(const Tensor& running, const Tensor& batch, double momentum, double factor) {
  dispatch<FloatingTypesAndReduced>(running.scalar_type(), "batch_norm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using param_t = scalar_t;
    param_t* to = running.data_ptr<param_t>();
    const int64_t step = running.dim() == 0 ? 0 : running.strides()[running.dim() - 1];
    dispatch<FloatingTypes>(batch.scalar_type(), "batch_norm", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      const scalar_t* values = batch.data_ptr<scalar_t>();
      for (int64_t c = 0; c < batch.numel(); c++) {
        const double moved = momentum * (double(values[c]) * factor) + (1 - momentum) * double(to[c * step]);
        to[c * step] = static_cast<param_t>(static_cast<opmath_type<param_t>>(moved));
      }
    });
  });
}

void batch_norm_update_kernel(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                              const Tensor& variance, double momentum, int64_t count) {
  if (running_mean.defined()) {
    move_towards(running_mean, mean, momentum, 1);
  }
  if (running_var.defined()) {
    move_towards(running_var, variance, momentum, double(count) / double(count - 1));
  }
}

// y = (x - mean) invstd weight + bias = x scale + offset
void batch_norm_transform_kernel(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                 const Tensor& weight, const Tensor& bias, const ChannelLayout& l) {
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t *means = mean.data_ptr<scalar_t>(), *invstds = invstd.data_ptr<scalar_t>();
    const scalar_t* weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const scalar_t* biases = bias.defined() ? bias.data_ptr<scalar_t>() : nullptr;
    std::vector<scalar_t> scale(static_cast<size_t>(l.channels)), offset(scale.size());
    for (int64_t c = 0; c < l.channels; c++) {
      scale[c] = invstds[c] * (weights != nullptr ? weights[c] : scalar_t(1));
      offset[c] = (biases != nullptr ? biases[c] : scalar_t(0)) - means[c] * scale[c];
    }
    channel::affine_channels(y.data_ptr<scalar_t>(), x.data_ptr<const scalar_t>(), scale.data(), offset.data(), l);
  });
}

// With n = (x - mean) invstd and M elements in a channel:
//   grad_weight = sum of dy n, grad_bias = sum of dy,
//   dx = invstd weight (dy - (grad_bias + n grad_weight) / M), in evaluation invstd weight dy.
void batch_norm_backward_kernel(const Tensor& dx, const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& dy,
                                const Tensor& x, const Tensor& mean, const Tensor& invstd, const Tensor& weight,
                                bool train, const ChannelLayout& l) {
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t *in = x.data_ptr<scalar_t>(), *grads = dy.data_ptr<scalar_t>();
    const scalar_t *means = mean.data_ptr<scalar_t>(), *invstds = invstd.data_ptr<scalar_t>();
    const scalar_t* weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const size_t channels = static_cast<size_t>(l.channels);
    std::vector<double> products(channels), sums(channels);
    if (train || grad_weight.defined()) {
      channel::sum_channels(products.data(), grads, in, means, l,
                            [](scalar_t g, scalar_t a, scalar_t m) { return g * (a - m); });
    }
    if (train || grad_bias.defined()) {
      channel::sum_channels(sums.data(), grads, in, means, l, [](scalar_t g, scalar_t, scalar_t) { return g; });
    }
    for (size_t c = 0; c < channels; c++) {
      if (grad_weight.defined()) {
        grad_weight.data_ptr<scalar_t>()[c] = scalar_t(products[c] * double(invstds[c]));
      }
      if (grad_bias.defined()) {
        grad_bias.data_ptr<scalar_t>()[c] = scalar_t(sums[c]);
      }
    }
    if (!dx.defined()) {
      return;
    }
    std::vector<scalar_t> of_dy(channels), of_x(channels), offset(channels);
    const double count = double(l.outer * l.inner);
    for (size_t c = 0; c < channels; c++) {
      const double istd = double(invstds[c]), factor = istd * (weights != nullptr ? double(weights[c]) : 1.0);
      of_dy[c] = scalar_t(factor);
      of_x[c] = scalar_t(-factor * istd * istd * products[c] / count);
      offset[c] = scalar_t(train ? -factor * sums[c] / count : 0.0);
    }
    scalar_t* out = dx.data_ptr<scalar_t>();
    if (train) {
      channel::combine_channels(out, grads, in, means, of_dy.data(), of_x.data(), offset.data(), l);
    } else {
      channel::affine_channels(out, grads, of_dy.data(), offset.data(), l);
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(batch_norm_stats_stub, batch_norm_stats_kernel)
REGISTER_CPU_DISPATCH(batch_norm_invstd_stub, batch_norm_invstd_kernel)
REGISTER_CPU_DISPATCH(batch_norm_update_stub, batch_norm_update_kernel)
REGISTER_CPU_DISPATCH(batch_norm_transform_stub, batch_norm_transform_kernel)
REGISTER_CPU_DISPATCH(batch_norm_backward_stub, batch_norm_backward_kernel)

} // namespace reftorch::at::native
