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

void cdist_kernel(const Tensor& result, const Tensor& x1, const Tensor& x2, double p) {
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "cdist", [&] {
    using T = scalar_t;
    const auto as_is = [](T acc) { return acc; };
    if (p == 0) {
      cdist_impl<T>(result, x1, x2, JoinZero<T>(), as_is);
    } else if (p == 1) {
      cdist_impl<T>(result, x1, x2, JoinOne<T>(), as_is);
    } else if (p == 2) {
      cdist_impl<T>(result, x1, x2, JoinTwo<T>(), [](T acc) { return std::sqrt(acc); });
    } else if (std::isinf(p)) {
      cdist_impl<T>(result, x1, x2, JoinMax<T>(), as_is);
    } else {
      cdist_impl<T>(result, x1, x2, JoinPower<T>(T(p)), [p](T acc) { return std::pow(acc, T(1 / p)); });
    }
  });
}

} // namespace

REGISTER_CPU_DISPATCH(cdist_stub, cdist_kernel)

} // namespace reftorch::at::native
