// Mirrors: aten/src/ATen/native/cpu/layer_norm_kernel.cpp
//
// The arithmetic is in LayerNormRows.h; this file chooses the dtype and splits the rows among threads. Left out:
// rms_norm.
#include <ATen/native/cpu/LayerNormRows.h>
#include <ATen/native/cpu/Scratch.h>
#include <ATen/native/layer_norm.h>

namespace reftorch::at::native {
namespace {

template <typename T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

// The number of rows (or columns) of `size` elements that are worth a thread of their own.
int64_t grain_of(int64_t size) {
  return std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(size, 1));
}

// 16-bit floats are converted to floats first, row by row.
template <typename scalar_t, typename opmath_t>
void forward_rows(scalar_t* y, opmath_t* mean, opmath_t* rstd, const scalar_t* x, const opmath_t* gamma,
                  const opmath_t* beta, int64_t M, int64_t N, opmath_t eps) {
  if constexpr (std::is_same_v<scalar_t, opmath_t>) {
    layer_norm_rows(y, mean, rstd, x, gamma, beta, M, N, eps);
  } else {
    Scratch<opmath_t> row(N);
    for (int64_t i = 0; i < M; i++) {
      convert(x + i * N, row.begin(), N);
      layer_norm_rows<opmath_t>(row.begin(), mean + i, rstd + i, row.begin(), gamma, beta, 1, N, eps);
      convert(row.begin(), y + i * N, N);
    }
  }
}

template <typename scalar_t, typename opmath_t>
void backward_rows(scalar_t* dx, const scalar_t* dy, const scalar_t* x, const opmath_t* mean, const opmath_t* rstd,
                   const opmath_t* gamma, int64_t M, int64_t N) {
  if constexpr (std::is_same_v<scalar_t, opmath_t>) {
    layer_norm_backward_rows(dx, dy, x, mean, rstd, gamma, M, N);
  } else {
    Scratch<opmath_t> row(N), slope(N);
    for (int64_t i = 0; i < M; i++) {
      convert(x + i * N, row.begin(), N);
      convert(dy + i * N, slope.begin(), N);
      layer_norm_backward_rows<opmath_t>(slope.begin(), slope.begin(), row.begin(), mean + i, rstd + i, gamma, 1, N);
      convert(slope.begin(), dx + i * N, N);
    }
  }
}

void layer_norm_kernel_impl(const Tensor& output, const Tensor& mean, const Tensor& rstd, const Tensor& input,
                            const Tensor& weight, const Tensor& bias, int64_t M, int64_t N, double eps) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "LayerNormKernelImpl", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t* x = input.data_ptr<scalar_t>();
    scalar_t* y = output.data_ptr<scalar_t>();
    opmath_t *means = mean.data_ptr<opmath_t>(), *rstds = rstd.data_ptr<opmath_t>();
    const opmath_t *gamma = data_or_null<opmath_t>(weight), *beta = data_or_null<opmath_t>(bias);
    parallel_for(0, M, grain_of(N), [&](int64_t lo, int64_t hi) {
      forward_rows(y + lo * N, means + lo, rstds + lo, x + lo * N, gamma, beta, hi - lo, N, opmath_t(eps));
    });
  });
}

void layer_norm_backward_kernel_impl(const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias,
                                     const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                     const Tensor& weight, int64_t M, int64_t N) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "LayerNormBackwardKernelImpl", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t *dy = grad.data_ptr<scalar_t>(), *x = input.data_ptr<scalar_t>();
    const opmath_t *means = mean.data_ptr<opmath_t>(), *rstds = rstd.data_ptr<opmath_t>();
    const opmath_t* gamma = data_or_null<opmath_t>(weight);
    opmath_t *dgamma = data_or_null<opmath_t>(grad_weight), *dbeta = data_or_null<opmath_t>(grad_bias);
    if (scalar_t* dx = data_or_null<scalar_t>(grad_input); dx != nullptr) {
      parallel_for(0, M, grain_of(N), [&](int64_t lo, int64_t hi) {
        backward_rows(dx + lo * N, dy + lo * N, x + lo * N, means + lo, rstds + lo, gamma, hi - lo, N);
      });
    }
    if (dgamma != nullptr || dbeta != nullptr) {
      const int64_t strips = (N + kStrip - 1) / kStrip;
      parallel_for(0, strips, grain_of(M * kStrip), [&](int64_t lo, int64_t hi) {
        for (int64_t first = lo * kStrip; first < std::min(hi * kStrip, N); first += kStrip) {
          layer_norm_backward_columns<scalar_t, opmath_t>(dgamma, dbeta, dy, x, means, rstds, M, N, first,
                                                          std::min(kStrip, N - first));
        }
      });
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(LayerNormKernel, layer_norm_kernel_impl)
REGISTER_CPU_DISPATCH(LayerNormBackwardKernel, layer_norm_backward_kernel_impl)

} // namespace reftorch::at::native
