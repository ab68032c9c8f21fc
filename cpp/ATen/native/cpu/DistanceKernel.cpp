// Mirrors: aten/src/ATen/native/cpu/DistanceOpsKernel.cpp
#include <ATen/native/Distance.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

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

// One join for each norm; the last one is for any other p.
template <typename T>
struct JoinSum {
  T both(T a, T b) const {
    return a + b;
  }
};
template <typename T>
struct JoinZero : JoinSum<T> {
  T operator()(T acc, T d) const {
    return acc + T(d != 0);
  }
};
template <typename T>
struct JoinOne : JoinSum<T> {
  T operator()(T acc, T d) const {
    return acc + d;
  }
};
template <typename T>
struct JoinTwo : JoinSum<T> {
  T operator()(T acc, T d) const {
    return acc + d * d;
  }
};
template <typename T>
struct JoinMax {
  T operator()(T acc, T d) const {
    return (d > acc) | (d != d) ? d : acc;
  }
  T both(T a, T b) const {
    return (*this)(a, b);
  }
};
template <typename T>
struct JoinPower : JoinSum<T> {
  T p;
  explicit JoinPower(T p) : p(p) {}
  T operator()(T acc, T d) const {
    return acc + std::pow(d, p);
  }
};

// finish() computes the norm from the joined total.
template <typename scalar_t, typename Join, typename Finish>
void cdist_impl(const Tensor& result, const Tensor& x1, const Tensor& x2, const Join& join, const Finish& finish) {
  const int64_t rows = x1.sizes()[1], columns = x2.sizes()[1], width = x1.sizes()[2];
  scalar_t* out = result.data_ptr<scalar_t>();
  const scalar_t *a = x1.data_ptr<scalar_t>(), *b = x2.data_ptr<scalar_t>();
  parallel_for(0, result.numel(), grain_of(width), [&](int64_t lo, int64_t hi) {
    for (int64_t k = lo; k < hi; k++) {
      const int64_t batch = k / (rows * columns), i = k / columns % rows, j = k % columns;
      out[k] = finish(distance(a + (batch * rows + i) * width, b + (batch * columns + j) * width, width, join));
    }
  });
}

// Calls run(join, finish) with the join of the norm.
template <typename T, typename Run>
void with_norm(double p, const Run& run) {
  const auto as_is = [](T acc) { return acc; };
  if (p == 0) {
    run(JoinZero<T>(), as_is);
  } else if (p == 1) {
    run(JoinOne<T>(), as_is);
  } else if (p == 2) {
    run(JoinTwo<T>(), [](T acc) { return std::sqrt(acc); });
  } else if (std::isinf(p)) {
    run(JoinMax<T>(), as_is);
  } else {
    run(JoinPower<T>(T(p)), [p](T acc) { return std::pow(acc, T(1 / p)); });
  }
}

void cdist_kernel(const Tensor& result, const Tensor& x1, const Tensor& x2, double p) {
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "cdist", [&] {
    with_norm<scalar_t>(
        p, [&](const auto& join, const auto& finish) { cdist_impl<scalar_t>(result, x1, x2, join, finish); });
  });
}

// self: (n, m), result: (n (n - 1) / 2)
void pdist_forward_kernel(const Tensor& result, const Tensor& self, double p) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "pdist", [&] {
    with_norm<scalar_t>(p, [&](const auto& join, const auto& finish) {
      const scalar_t* x = self.data_ptr<scalar_t>();
      scalar_t* out = result.data_ptr<scalar_t>();
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) {
          *out++ = finish(distance(x + i * m, x + j * m, m, join));
        }
      }
    });
  });
}

// --- backward: the slope of the distance of two points along one of their coordinates, times grad --------------------

// d: the difference of the coordinates; dist: the distance. Where a norm has no derivative, the slope is 0.
template <typename T>
T slope_of(double p, T d, T grad, T dist) {
  const T sign = T(d > 0) - T(d < 0);
  if (p == 0 || (p != 1 && dist == 0)) {
    return 0;
  }
  if (p == 1) {
    return grad * sign;
  }
  if (p == 2) {
    return grad * d / dist;
  }
  if (std::isinf(p)) {
    return std::abs(d) == dist ? grad * sign : T(0);
  }
  // |d|^(p - 1) is infinite for p < 1 and d = 0
  return d == 0 ? T(0) : sign * std::pow(std::abs(d), T(p - 1)) * grad / std::pow(dist, T(p - 1));
}

// grad_self: (n, m), grad, pdist: (n (n - 1) / 2). Each pair moves both of its points.
void pdist_backward_kernel(const Tensor& grad_self, const Tensor& grad, const Tensor& self, double p,
                           const Tensor& pdist) {
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "pdist_backward", [&] {
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
  AT_DISPATCH_FLOATING_TYPES(x1.scalar_type(), "cdist_backward", [&] {
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
