// Mirrors: aten/src/ATen/native/cuda/layer_norm_kernel.cu
//
// layer_norm and its backward on rows x: (M, N), y = (x - mean) rstd gamma + beta. A group of threads shares a row.
// Left out: loads of four elements at a time, several blocks for a column of the parameters' gradients.
#include <ATen/native/layer_norm.h>

#include <ATen/native/cuda/KernelUtils.cuh>

#include <cmath>

namespace reftorch::at::native {
namespace {

// Two passes: the variance of large numbers would lose all digits in one. gamma and beta may be null.
template <typename scalar_t, typename opmath_t>
__global__ void layer_norm_forward_kernel(scalar_t* y, opmath_t* mean, opmath_t* rstd, const scalar_t* x,
                                          const opmath_t* gamma, const opmath_t* beta, int64_t N, double eps,
                                          RowGroups groups) {
  const int group = groups.layout.group;
  groups.for_each([&](int64_t row, int64_t first) {
    const scalar_t* x_row = x + row * N;
    opmath_t sum = 0, squares = 0;
    for (int64_t j = first; j < N; j += group) {
      sum += opmath_t(x_row[j]);
    }
    const opmath_t center = group_reduce(sum, group, Sum<opmath_t>()) / opmath_t(N);
    for (int64_t j = first; j < N; j += group) {
      const opmath_t distance = opmath_t(x_row[j]) - center;
      squares += distance * distance;
    }
    squares = group_reduce(squares, group, Sum<opmath_t>());
    const opmath_t scale = opmath_t(1) / std::sqrt(squares / opmath_t(N) + opmath_t(eps));
    for (int64_t j = first; j < N; j += group) {
      const opmath_t normal = (opmath_t(x_row[j]) - center) * scale;
      y[row * N + j] = static_cast<scalar_t>(normal * (gamma != nullptr ? gamma[j] : opmath_t(1)) +
                                             (beta != nullptr ? beta[j] : opmath_t(0)));
    }
    if (first == 0) {
      mean[row] = center;
      rstd[row] = scale;
    }
  });
}

// With a = dy gamma and n = (x - mean) rstd: dx = rstd (a - mean(a) - n mean(a n)).
template <typename scalar_t, typename opmath_t>
__global__ void layer_norm_grad_input_kernel(scalar_t* dx, const scalar_t* dy, const scalar_t* x, const opmath_t* mean,
                                             const opmath_t* rstd, const opmath_t* gamma, int64_t N, RowGroups groups) {
  const int group = groups.layout.group;
  groups.for_each([&](int64_t row, int64_t first) {
    const opmath_t center = mean[row], scale = rstd[row];
    const auto a = [&](int64_t j) { return opmath_t(dy[row * N + j]) * (gamma != nullptr ? gamma[j] : opmath_t(1)); };
    const auto normal = [&](int64_t j) { return (opmath_t(x[row * N + j]) - center) * scale; };
    opmath_t sum = 0, products = 0;
    for (int64_t j = first; j < N; j += group) {
      sum += a(j);
      products += a(j) * normal(j);
    }
    sum = group_reduce(sum, group, Sum<opmath_t>());
    products = group_reduce(products, group, Sum<opmath_t>());
    for (int64_t j = first; j < N; j += group) {
      dx[row * N + j] =
          static_cast<scalar_t>(scale * (a(j) - sum / opmath_t(N) - normal(j) * (products / opmath_t(N))));
    }
  });
}

// dgamma is the sum of dy n over the rows, dbeta the sum of dy. Neighbouring threads read neighbouring columns. What is
// null is not computed.
template <typename scalar_t, typename opmath_t>
__global__ void layer_norm_grad_parameters_kernel(opmath_t* dgamma, opmath_t* dbeta, const scalar_t* dy,
                                                  const scalar_t* x, const opmath_t* mean, const opmath_t* rstd,
                                                  int64_t M, int64_t N) {
  CUDA_KERNEL_LOOP(j, N) {
    opmath_t weight = 0, bias = 0;
    for (int64_t i = 0; i < M; i++) {
      const opmath_t grad = dy[i * N + j];
      weight += grad * ((opmath_t(x[i * N + j]) - mean[i]) * rstd[i]);
      bias += grad;
    }
    if (dgamma != nullptr) {
      dgamma[j] = weight;
    }
    if (dbeta != nullptr) {
      dbeta[j] = bias;
    }
  }
}

void layer_norm_kernel_cuda(const Tensor& output, const Tensor& mean, const Tensor& rstd, const Tensor& input,
                            const Tensor& weight, const Tensor& bias, int64_t M, int64_t N, double eps) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "LayerNormKernelImpl", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const RowGroups groups(M, N);
    launch_rows<opmath_t>(input, groups, layer_norm_forward_kernel<scalar_t, opmath_t>, output.data_ptr<scalar_t>(),
                          mean.data_ptr<opmath_t>(), rstd.data_ptr<opmath_t>(), input.data_ptr<scalar_t>(),
                          data_or_null<opmath_t>(weight), data_or_null<opmath_t>(bias), N, eps, groups);
  });
}

void layer_norm_backward_kernel_cuda(const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias,
                                     const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                     const Tensor& weight, int64_t M, int64_t N) {
  dispatch<FloatingTypesAndReduced>(input.scalar_type(), "LayerNormBackwardKernelImpl", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    const scalar_t *dy = grad.data_ptr<scalar_t>(), *x = input.data_ptr<scalar_t>();
    const opmath_t *means = mean.data_ptr<opmath_t>(), *rstds = rstd.data_ptr<opmath_t>();
    if (grad_input.defined()) {
      const RowGroups groups(M, N);
      launch_rows<opmath_t>(input, groups, layer_norm_grad_input_kernel<scalar_t, opmath_t>,
                            grad_input.data_ptr<scalar_t>(), dy, x, means, rstds, data_or_null<opmath_t>(weight), N,
                            groups);
    }
    if (grad_weight.defined() || grad_bias.defined()) {
      launch_elements(input, N, layer_norm_grad_parameters_kernel<scalar_t, opmath_t>,
                      data_or_null<opmath_t>(grad_weight), data_or_null<opmath_t>(grad_bias), dy, x, means, rstds, M,
                      N);
    }
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(LayerNormKernel, layer_norm_kernel_cuda)
REGISTER_CUDA_DISPATCH(LayerNormBackwardKernel, layer_norm_backward_kernel_cuda)

} // namespace reftorch::at::native
