// Mirrors: aten/src/ATen/native/cuda/DistanceKernel.cu
//
// cdist and pdist: one thread for each distance. In the backward, each coordinate of a point has a thread, which adds
// up the slopes of all distances of the point, so that no two threads add to the same place. Left out: a block for each
// distance of long vectors.
#include <ATen/native/Distance.h>
#include <ATen/native/DistanceFunctors.h>

#include <ATen/native/cuda/KernelUtils.cuh>

namespace reftorch::at::native {
namespace {

// a, b: (width)
template <typename scalar_t, typename Join>
__device__ scalar_t distance_of(const scalar_t* a, const scalar_t* b, int64_t width, const Join& join) {
  scalar_t total = 0;
  for (int64_t k = 0; k < width; k++) {
    total = join(total, std::abs(a[k] - b[k]));
  }
  return join.finish(total);
}

// result: (batch, P, R), x1: (batch, P, M), x2: (batch, R, M)
template <typename scalar_t, typename Join>
__global__ void cdist_kernel(scalar_t* result, const scalar_t* x1, const scalar_t* x2, int64_t P, int64_t R, int64_t M,
                             Join join, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t batch = i / R / P;
    result[i] = distance_of(x1 + i / R * M, x2 + (batch * R + i % R) * M, M, join);
  }
}

// grad_x1: (batch, P, M), grad, cdist: (batch, P, R)
template <typename scalar_t>
__global__ void cdist_backward_kernel(scalar_t* grad_x1, const scalar_t* grad, const scalar_t* x1, const scalar_t* x2,
                                      double p, const scalar_t* cdist, int64_t P, int64_t R, int64_t M, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) {
    const int64_t row = i / M, k = i % M;
    const scalar_t* others = x2 + row / P * R * M;
    scalar_t sum = 0;
    for (int64_t j = 0; j < R; j++) {
      sum += slope_of(p, x1[i] - others[j * M + k], grad[row * R + j], cdist[row * R + j]);
    }
    grad_x1[i] = sum;
  }
}

// The index of the distance of the rows i < j of n.
C10_HOST_DEVICE int64_t pair_of(int64_t i, int64_t j, int64_t n) {
  return i * n - i * (i + 1) / 2 + j - i - 1;
}

// self: (n, m), result: (n (n - 1) / 2)
template <typename scalar_t, typename Join>
__global__ void pdist_kernel(scalar_t* result, const scalar_t* self, int64_t n, int64_t m, Join join) {
  CUDA_KERNEL_LOOP(pair, n * n) {
    const int64_t i = pair / n, j = pair % n;
    if (i < j) {
      result[pair_of(i, j, n)] = distance_of(self + i * m, self + j * m, m, join);
    }
  }
}

template <typename scalar_t>
__global__ void pdist_backward_kernel(scalar_t* grad_self, const scalar_t* grad, const scalar_t* self, double p,
                                      const scalar_t* pdist, int64_t n, int64_t m) {
  CUDA_KERNEL_LOOP(element, n * m) {
    const int64_t i = element / m, k = element % m;
    scalar_t sum = 0;
    for (int64_t j = 0; j < n; j++) {
      if (j != i) {
        const int64_t pair = i < j ? pair_of(i, j, n) : pair_of(j, i, n);
        sum += slope_of(p, self[element] - self[j * m + k], grad[pair], pdist[pair]);
      }
    }
    grad_self[element] = sum;
  }
}

void cdist_kernel_cuda(const Tensor& result, const Tensor& x1, const Tensor& x2, double p) {
  dispatch<FloatingTypes>(result.scalar_type(), "cdist_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_norm<scalar_t>(p, [&](const auto& join) {
      using Join = std::decay_t<decltype(join)>;
      launch_elements(result, result.numel(), cdist_kernel<scalar_t, Join>, result.data_ptr<scalar_t>(),
                      x1.data_ptr<scalar_t>(), x2.data_ptr<scalar_t>(), x1.sizes()[1], x2.sizes()[1], x1.sizes()[2],
                      join, result.numel());
    });
  });
}

void cdist_backward_kernel_cuda(const Tensor& grad_x1, const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                const Tensor& cdist) {
  dispatch<FloatingTypes>(x1.scalar_type(), "cdist_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(x1, x1.numel(), cdist_backward_kernel<scalar_t>, grad_x1.data_ptr<scalar_t>(),
                    grad.data_ptr<scalar_t>(), x1.data_ptr<scalar_t>(), x2.data_ptr<scalar_t>(), p,
                    cdist.data_ptr<scalar_t>(), x1.sizes()[1], x2.sizes()[1], x1.sizes()[2], x1.numel());
  });
}

void pdist_forward_kernel_cuda(const Tensor& result, const Tensor& self, double p) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  dispatch<FloatingTypes>(self.scalar_type(), "pdist_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_norm<scalar_t>(p, [&](const auto& join) {
      using Join = std::decay_t<decltype(join)>;
      launch_elements(self, n * n, pdist_kernel<scalar_t, Join>, result.data_ptr<scalar_t>(), self.data_ptr<scalar_t>(),
                      n, m, join);
    });
  });
}

void pdist_backward_kernel_cuda(const Tensor& grad_self, const Tensor& grad, const Tensor& self, double p,
                                const Tensor& pdist) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  dispatch<FloatingTypes>(self.scalar_type(), "pdist_backward_cuda", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    launch_elements(self, n * m, pdist_backward_kernel<scalar_t>, grad_self.data_ptr<scalar_t>(),
                    grad.data_ptr<scalar_t>(), self.data_ptr<scalar_t>(), p, pdist.data_ptr<scalar_t>(), n, m);
  });
}

} // namespace

REGISTER_CUDA_DISPATCH(cdist_stub, cdist_kernel_cuda)
REGISTER_CUDA_DISPATCH(cdist_backward_stub, cdist_backward_kernel_cuda)
REGISTER_CUDA_DISPATCH(pdist_forward_stub, pdist_forward_kernel_cuda)
REGISTER_CUDA_DISPATCH(pdist_backward_stub, pdist_backward_kernel_cuda)

} // namespace reftorch::at::native
