// Mirrors: aten/src/ATen/native/cpu/DistanceOpsKernel.cpp, aten/src/ATen/native/cuda/DistanceKernel.cu (their norms)
//
// The norms of cdist and pdist and their slopes, which the kernels of the CPU and of CUDA share.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>

namespace reftorch::at::native {

// One join for each norm; the last one is for any other p. operator() takes in the distance of one pair of coordinates,
// both() joins two partial results, and finish() computes the norm from the joined total.
template <typename T>
struct JoinSum {
  C10_HOST_DEVICE T both(T a, T b) const {
    return a + b;
  }
  C10_HOST_DEVICE T finish(T total) const {
    return total;
  }
};
template <typename T>
struct JoinZero : JoinSum<T> {
  C10_HOST_DEVICE T operator()(T acc, T d) const {
    return acc + (d == d ? T(d != 0) : d);
  }
};
template <typename T>
struct JoinOne : JoinSum<T> {
  C10_HOST_DEVICE T operator()(T acc, T d) const {
    return acc + d;
  }
};
template <typename T>
struct JoinTwo : JoinSum<T> {
  C10_HOST_DEVICE T operator()(T acc, T d) const {
    return acc + d * d;
  }
  C10_HOST_DEVICE T finish(T total) const {
    return std::sqrt(total);
  }
};
template <typename T>
struct JoinMax {
  C10_HOST_DEVICE T operator()(T acc, T d) const {
    return (d > acc) | (d != d) ? d : acc;
  }
  C10_HOST_DEVICE T both(T a, T b) const {
    return (*this)(a, b);
  }
  C10_HOST_DEVICE T finish(T total) const {
    return total;
  }
};
template <typename T>
struct JoinPower : JoinSum<T> {
  T p, root;
  explicit JoinPower(double p) : p(T(p)), root(T(1 / p)) {}
  C10_HOST_DEVICE T operator()(T acc, T d) const {
    return acc + std::pow(d, p);
  }
  C10_HOST_DEVICE T finish(T total) const {
    return std::pow(total, root);
  }
};

// Calls run(join) with the join of the norm.
template <typename T, typename Run>
void with_norm(double p, const Run& run) {
  if (p == 0) {
    run(JoinZero<T>());
  } else if (p == 1) {
    run(JoinOne<T>());
  } else if (p == 2) {
    run(JoinTwo<T>());
  } else if (std::isinf(p)) {
    run(JoinMax<T>());
  } else {
    run(JoinPower<T>(p));
  }
}

// --- backward: the slope of the distance of two points along one of their coordinates, times grad --------------------

// d: the difference of the coordinates; dist: the distance. Where a norm has no derivative, the slope is 0.
template <typename T>
C10_HOST_DEVICE T slope_of(double p, T d, T grad, T dist) {
  const T sign = d == d ? T(d > 0) - T(d < 0) : d;
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
    return dist != dist ? dist : std::abs(d) == dist ? grad * sign : T(0);
  }
  // |d|^(p - 1) is infinite for p < 1 and d = 0
  return d == 0 ? T(0) : sign * std::pow(std::abs(d), T(p - 1)) * grad / std::pow(dist, T(p - 1));
}

} // namespace reftorch::at::native
