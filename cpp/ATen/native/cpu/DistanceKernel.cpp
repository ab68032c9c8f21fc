// Mirrors: aten/src/ATen/native/cpu/DistanceOpsKernel.cpp
#include <ATen/native/Distance.h>
#include <ATen/native/DistanceFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// The distance of two dense vectors. join() takes in |a_i - b_i|, in several lanes, and the lanes are joined at the
// end.
template <typename scalar_t, typename Join>
TARGET_CLONES static scalar_t distance(const scalar_t* a, const scalar_t* b, int64_t n, Join join) {
  constexpr int kLanes = 32; // see reduce_dense of Reduce.h
  scalar_t lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; l++) {
      lanes[l] = join(lanes[l], std::abs(a[i + l] - b[i + l]));
    }
  }
  for (int l = 0; i < n; i++, l++) {
    lanes[l] = join(lanes[l], std::abs(a[i] - b[i]));
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; l++) {
      lanes[l] = join.both(lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

template <typename scalar_t, typename Join>
void cdist_impl(const Tensor& result, const Tensor& x1, const Tensor& x2, const Join& join) {
  const int64_t rows = x1.sizes()[1], columns = x2.sizes()[1], width = x1.sizes()[2];
  scalar_t* out = result.data_ptr<scalar_t>();
  const scalar_t *a = x1.data_ptr<scalar_t>(), *b = x2.data_ptr<scalar_t>();
  parallel_for(0, result.numel(), grain_of(width), [&](int64_t lo, int64_t hi) {
    for (int64_t k = lo; k < hi; k++) {
      const int64_t batch = k / (rows * columns), i = k / columns % rows, j = k % columns;
      out[k] = join.finish(distance(a + (batch * rows + i) * width, b + (batch * columns + j) * width, width, join));
    }
  });
}

void cdist_kernel(const Tensor& result, const Tensor& x1, const Tensor& x2, double p) {
  dispatch<FloatingTypes>(result.scalar_type(), "cdist", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_norm<scalar_t>(p, [&](const auto& join) { cdist_impl<scalar_t>(result, x1, x2, join); });
  });
}

// self: (n, m), result: (n (n - 1) / 2)
void pdist_forward_kernel(const Tensor& result, const Tensor& self, double p) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  dispatch<FloatingTypes>(self.scalar_type(), "pdist", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    with_norm<scalar_t>(p, [&](const auto& join) {
      const scalar_t* x = self.data_ptr<scalar_t>();
      scalar_t* out = result.data_ptr<scalar_t>();
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) {
          *out++ = join.finish(distance(x + i * m, x + j * m, m, join));
        }
      }
    });
  });
}

// grad_self: (n, m), grad, pdist: (n (n - 1) / 2). Each pair moves both of its points.
void pdist_backward_kernel(const Tensor& grad_self, const Tensor& grad, const Tensor& self, double p,
                           const Tensor& pdist) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  dispatch<FloatingTypes>(self.scalar_type(), "pdist_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t *x = self.data_ptr<scalar_t>(), *g = grad.data_ptr<scalar_t>(), *dist = pdist.data_ptr<scalar_t>();
    scalar_t* dx = grad_self.data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = i + 1; j < n; j++, g++, dist++) {
        for (int64_t k = 0; k < m; k++) {
          const scalar_t slope = slope_of(p, x[i * m + k] - x[j * m + k], *g, *dist);
          dx[i * m + k] += slope;
          dx[j * m + k] -= slope;
        }
      }
    }
  });
}

// grad_x1: (batch, P, M), grad, cdist: (batch, P, R)
void cdist_backward_kernel(const Tensor& grad_x1, const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                           const Tensor& cdist) {
  const int64_t P = x1.sizes()[1], R = x2.sizes()[1], M = x1.sizes()[2];
  dispatch<FloatingTypes>(x1.scalar_type(), "cdist_backward", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t *a = x1.data_ptr<scalar_t>(), *b = x2.data_ptr<scalar_t>();
    const scalar_t *g = grad.data_ptr<scalar_t>(), *dist = cdist.data_ptr<scalar_t>();
    scalar_t* dx = grad_x1.data_ptr<scalar_t>();
    parallel_for(0, x1.sizes()[0] * P, grain_of(R * M), [&](int64_t lo, int64_t hi) {
      for (int64_t row = lo; row < hi; row++) { // a point of x1
        const scalar_t* others = b + row / P * R * M;
        for (int64_t j = 0; j < R; j++) {
          for (int64_t k = 0; k < M; k++) {
            dx[row * M + k] += slope_of(p, a[row * M + k] - others[j * M + k], g[row * R + j], dist[row * R + j]);
          }
        }
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(cdist_stub, cdist_kernel)
REGISTER_CPU_DISPATCH(cdist_backward_stub, cdist_backward_kernel)
REGISTER_CPU_DISPATCH(pdist_forward_stub, pdist_forward_kernel)
REGISTER_CPU_DISPATCH(pdist_backward_stub, pdist_backward_kernel)

} // namespace reftorch::at::native
