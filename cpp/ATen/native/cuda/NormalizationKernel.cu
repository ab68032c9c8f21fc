// Mirrors: aten/src/ATen/native/cuda/Normalization.cuh
//
// The steps of batch normalization. A block adds up the elements of a channel, in double; then each element has a
// thread. Left out: several blocks for a channel, and halves, which the caller converts.
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/native/Normalization.h>

#include <ATen/native/cuda/Reduce.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

// Returns the place of element i of channel c in memory.
C10_HOST_DEVICE int64_t place_of(const ChannelLayout& l, int64_t c, int64_t i) {
  return (i / l.inner * l.channels + c) * l.inner + i % l.inner;
}

// The sum over a channel of f(place), for all threads of the block.
template <typename F>
__device__ double channel_sum(const ChannelLayout& l, int64_t c, const F& f) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < l.outer * l.inner; i += blockDim.x) {
    sum += f(place_of(l, c, i));
  }
  return group_reduce(sum, kThreads, Sum<double>());
}

// Two passes: the variance of large numbers would lose all digits in one.
template <typename scalar_t>
__global__ void batch_norm_collect_statistics_kernel(scalar_t* mean, scalar_t* variance, const scalar_t* x,
                                                     ChannelLayout l) {
  const double n = double(l.outer * l.inner);
  for (int64_t c = blockIdx.x; c < l.channels; c += gridDim.x) {
    const scalar_t m = scalar_t(channel_sum(l, c, [&](int64_t place) { return double(x[place]); }) / n);
    const double squares = channel_sum(l, c, [&](int64_t place) { return double((x[place] - m) * (x[place] - m)); });
    if (threadIdx.x == 0) {
      mean[c] = m;
      variance[c] = scalar_t(squares / n);
    }
  }
}

template <typename scalar_t>
__global__ void batch_norm_transform_input_kernel(scalar_t* y, const scalar_t* x, const scalar_t* mean,
                                                  const scalar_t* invstd, const scalar_t* weight, const scalar_t* bias,
                                                  ChannelLayout l) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x, n = l.outer * l.channels * l.inner;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const int64_t c = i / l.inner % l.channels;
    const scalar_t scale = invstd[c] * (weight != nullptr ? weight[c] : scalar_t(1));
    y[i] = x[i] * scale + ((bias != nullptr ? bias[c] : scalar_t(0)) - mean[c] * scale);
  }
}

template <typename scalar_t>
__global__ void batch_norm_calc_invstd_kernel(scalar_t* invstd, const scalar_t* variance, double eps, int64_t n) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    invstd[i] = scalar_t(1 / std::sqrt(double(variance[i]) + eps));
  }
}

// The formulas are those of the CPU's kernel. What is null is not computed.
template <typename scalar_t>
__global__ void batch_norm_backward_elemt_kernel(scalar_t* dx, scalar_t* grad_weight, scalar_t* grad_bias,
                                                 const scalar_t* dy, const scalar_t* x, const scalar_t* mean,
                                                 const scalar_t* invstd, const scalar_t* weight, bool train,
                                                 ChannelLayout l) {
  const double n = double(l.outer * l.inner);
  for (int64_t c = blockIdx.x; c < l.channels; c += gridDim.x) {
    const scalar_t m = mean[c];
    const double product = channel_sum(l, c, [&](int64_t place) { return double(dy[place] * (x[place] - m)); });
    const double sum = channel_sum(l, c, [&](int64_t place) { return double(dy[place]); });
    const double istd = double(invstd[c]);
    if (threadIdx.x == 0 && grad_weight != nullptr) {
      grad_weight[c] = scalar_t(product * istd);
    }
    if (threadIdx.x == 0 && grad_bias != nullptr) {
      grad_bias[c] = scalar_t(sum);
    }
    if (dx != nullptr) {
      const double factor = istd * (weight != nullptr ? double(weight[c]) : 1.0);
      const double of_x = train ? -factor * istd * istd * product / n : 0.0, offset = train ? -factor * sum / n : 0.0;
      for (int64_t i = threadIdx.x; i < l.outer * l.inner; i += blockDim.x) {
        const int64_t place = place_of(l, c, i);
        dx[place] = scalar_t(factor * double(dy[place]) + of_x * double(x[place] - m) + offset);
      }
    }
  }
}

template <typename scalar_t>
scalar_t* pointer(const Tensor& t) {
  return t.defined() ? t.data_ptr<scalar_t>() : nullptr;
}

int blocks_for(const ChannelLayout& l) {
  return cuda::grid_size(l.channels * kThreads, kThreads);
}

void batch_norm_stats_kernel_cuda(const Tensor& mean, const Tensor& variance, const Tensor& x, const ChannelLayout& l) {
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(x.device().index());
    c10::cuda::launch(batch_norm_collect_statistics_kernel<scalar_t>, blocks_for(l), kThreads,
                      kThreads * sizeof(double), c10::cuda::getCurrentCUDAStream(), mean.data_ptr<scalar_t>(),
                      variance.data_ptr<scalar_t>(), static_cast<const scalar_t*>(x.data_ptr<scalar_t>()), l);
  });
}

void batch_norm_invstd_kernel_cuda(const Tensor& invstd, const Tensor& variance, double eps) {
  const int64_t n = variance.numel();
  if (n == 0) {
    return;
  }
  dispatch<FloatingTypes>(variance.scalar_type(), "batch_norm_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(variance.device().index());
    c10::cuda::launch(batch_norm_calc_invstd_kernel<scalar_t>, cuda::grid_size(n, kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), invstd.data_ptr<scalar_t>(),
                      static_cast<const scalar_t*>(variance.data_ptr<scalar_t>()), eps, n);
  });
}

void batch_norm_update_kernel_cuda(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                                   const Tensor& variance, double momentum, int64_t count) {
  const auto move_towards = [momentum](const Tensor& running, const Tensor& batch, double factor) {
    if (running.defined()) {
      Tensor target = at::detach(running);
      at::add_(at::mul_(target, 1 - momentum), at::mul(batch, momentum * factor));
    }
  };
  move_towards(running_mean, mean, 1);
  move_towards(running_var, variance, double(count) / double(count - 1));
}

void batch_norm_transform_kernel_cuda(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                      const Tensor& weight, const Tensor& bias, const ChannelLayout& l) {
  if (x.numel() == 0) {
    return;
  }
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(x.device().index());
    const auto in = [](const Tensor& t) { return static_cast<const scalar_t*>(pointer<scalar_t>(t)); };
    c10::cuda::launch(batch_norm_transform_input_kernel<scalar_t>, cuda::grid_size(x.numel(), kThreads), kThreads, 0,
                      c10::cuda::getCurrentCUDAStream(), y.data_ptr<scalar_t>(), in(x), in(mean), in(invstd),
                      in(weight), in(bias), l);
  });
}

void batch_norm_backward_kernel_cuda(const Tensor& dx, const Tensor& grad_weight, const Tensor& grad_bias,
                                     const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                                     const Tensor& weight, bool train, const ChannelLayout& l) {
  if (l.channels == 0) {
    return;
  }
  dispatch<FloatingTypes>(x.scalar_type(), "batch_norm_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const c10::cuda::CUDAGuard guard(x.device().index());
    const auto in = [](const Tensor& t) { return static_cast<const scalar_t*>(pointer<scalar_t>(t)); };
    c10::cuda::launch(batch_norm_backward_elemt_kernel<scalar_t>, blocks_for(l), kThreads, kThreads * sizeof(double),
                      c10::cuda::getCurrentCUDAStream(), pointer<scalar_t>(dx), pointer<scalar_t>(grad_weight),
                      pointer<scalar_t>(grad_bias), in(dy), in(x), in(mean), in(invstd), in(weight), train, l);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(batch_norm_stats_stub, batch_norm_stats_kernel_cuda)
REGISTER_CUDA_DISPATCH(batch_norm_invstd_stub, batch_norm_invstd_kernel_cuda)
REGISTER_CUDA_DISPATCH(batch_norm_update_stub, batch_norm_update_kernel_cuda)
REGISTER_CUDA_DISPATCH(batch_norm_transform_stub, batch_norm_transform_kernel_cuda)
REGISTER_CUDA_DISPATCH(batch_norm_backward_stub, batch_norm_backward_kernel_cuda)

} // namespace reftorch::at::native
