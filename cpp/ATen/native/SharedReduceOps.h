// Mirrors: aten/src/ATen/native/SharedReduceOps.h
//
// For each reduction: how it takes in an element, joins two partial results and finishes. The loops around these steps
// are in native/cpu/Reduce.h and native/cuda/Reduce.cuh. in_t is the type of the elements; acc is the type of the
// accumulator.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace reftorch::at::native {

template <typename out_t, typename acc>
struct SumOps {
  using acc_t = acc;
  static constexpr bool exact = std::is_integral_v<acc>, nan_wins = false, in_order = false;
  C10_HOST_DEVICE acc_t identity() const {
    return 0;
  }
  template <typename in_t>
  C10_HOST_DEVICE acc_t reduce(acc_t a, in_t x) const {
    return a + acc_t(x);
  }
  C10_HOST_DEVICE acc_t combine(acc_t a, acc_t b) const {
    return a + b;
  }
  C10_HOST_DEVICE out_t project(acc_t a) const {
    return out_t(a);
  }
};

template <typename out_t, typename acc>
struct NanSumOps : SumOps<out_t, acc> {
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return x != x ? a : a + x;
  }
};

template <typename out_t, typename acc>
struct MeanOps : SumOps<out_t, acc> {
  acc count;
  explicit MeanOps(acc count) : count(count) {}
  C10_HOST_DEVICE out_t project(acc a) const {
    return out_t(a / count);
  }
};

// 16-bit floats are rounded at each step, as in PyTorch: a product may overflow although a later factor would make it
// finite again. The elements are multiplied strictly in order, so that the digits do not depend on the strides.
template <typename out_t, typename acc>
struct ProdOps : SumOps<out_t, acc> {
  static constexpr bool in_order = !std::is_integral_v<acc> && sizeof(acc) == 2;
  C10_HOST_DEVICE acc identity() const {
    return 1;
  }
  template <typename in_t>
  C10_HOST_DEVICE acc reduce(acc a, in_t x) const {
    return a * acc(x);
  }
  C10_HOST_DEVICE acc combine(acc a, acc b) const {
    return a * b;
  }
};

// all and any. The accumulator is the byte 0 or 1, because GCC does not vectorize loops over accumulators of type bool.
struct AndOps : SumOps<bool, uint8_t> {
  C10_HOST_DEVICE uint8_t identity() const {
    return 1;
  }
  C10_HOST_DEVICE uint8_t reduce(uint8_t a, bool x) const {
    return a & uint8_t(x);
  }
  C10_HOST_DEVICE uint8_t combine(uint8_t a, uint8_t b) const {
    return a & b;
  }
};

struct OrOps : SumOps<bool, uint8_t> {
  C10_HOST_DEVICE uint8_t reduce(uint8_t a, bool x) const {
    return a | uint8_t(x);
  }
  C10_HOST_DEVICE uint8_t combine(uint8_t a, uint8_t b) const {
    return a | b;
  }
};

// The smallest value of a type, -inf for floats.
template <typename T>
C10_HOST_DEVICE constexpr T lower_bound() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}
template <typename T>
C10_HOST_DEVICE constexpr T upper_bound() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

// The type in which elements are compared: a byte for bools, because GCC does not vectorize a loop that chooses one of
// two bools.
template <typename T>
using compared_type = std::conditional_t<std::is_same_v<T, bool>, uint8_t, opmath_type<T>>;

// Once NaN is reached, the result stays NaN: every comparison with NaN is false.
template <typename out_t, typename acc>
struct MaxOps : SumOps<out_t, acc> {
  static constexpr bool exact = true, nan_wins = std::is_floating_point_v<acc>, in_order = false;
  C10_HOST_DEVICE acc identity() const {
    return lower_bound<acc>();
  }
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return combine(a, x);
  }
  C10_HOST_DEVICE acc reduce_number(acc a, acc x) const {
    return x > a ? x : a;
  }
  C10_HOST_DEVICE acc combine(acc a, acc x) const {
    return (x > a) | (x != x) ? x : a;
  }
};

template <typename out_t, typename acc>
struct MinOps : SumOps<out_t, acc> {
  static constexpr bool exact = true, nan_wins = std::is_floating_point_v<acc>, in_order = false;
  C10_HOST_DEVICE acc identity() const {
    return upper_bound<acc>();
  }
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return combine(a, x);
  }
  C10_HOST_DEVICE acc reduce_number(acc a, acc x) const {
    return x < a ? x : a;
  }
  C10_HOST_DEVICE acc combine(acc a, acc x) const {
    return (x < a) | (x != x) ? x : a;
  }
};

template <typename out_t, typename acc>
struct NormZeroOps : SumOps<out_t, acc> {
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return a + acc(x != 0);
  }
};
template <typename out_t, typename acc>
struct NormOneOps : SumOps<out_t, acc> {
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return a + std::abs(x);
  }
};
template <typename out_t, typename acc>
struct NormTwoOps : SumOps<out_t, acc> {
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return a + x * x;
  }
  C10_HOST_DEVICE out_t project(acc a) const {
    return out_t(std::sqrt(a));
  }
};
template <typename out_t, typename acc>
struct NormOps : SumOps<out_t, acc> {
  acc p;
  explicit NormOps(acc p) : p(p) {}
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return a + std::pow(std::abs(x), p);
  }
  C10_HOST_DEVICE out_t project(acc a) const {
    return out_t(std::pow(a, acc(1) / p));
  }
};
template <typename out_t, typename acc>
struct AbsMaxOps : MaxOps<out_t, acc> {
  C10_HOST_DEVICE acc identity() const {
    return 0;
  }
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return this->combine(a, std::abs(x));
  }
  C10_HOST_DEVICE acc reduce_number(acc a, acc x) const {
    return MaxOps<out_t, acc>::reduce_number(a, std::abs(x));
  }
};
template <typename out_t, typename acc>
struct AbsMinOps : MinOps<out_t, acc> {
  C10_HOST_DEVICE acc reduce(acc a, acc x) const {
    return this->combine(a, std::abs(x));
  }
  C10_HOST_DEVICE acc reduce_number(acc a, acc x) const {
    return MinOps<out_t, acc>::reduce_number(a, std::abs(x));
  }
};

// Welford's algorithm: the mean and the sum of squared deviations of the elements so far, updated with each element.
// Two partial results can be joined without a second pass. The textbook formula E[x^2] - E[x]^2 subtracts two large
// numbers, and rounding may make its result negative.
struct WelfordData {
  double mean = 0, m2 = 0;
  int64_t n = 0;
};
template <typename out_t>
struct WelfordOps {
  using acc_t = WelfordData;
  static constexpr bool exact = false, in_order = false;
  double correction;
  bool take_sqrt;
  C10_HOST_DEVICE acc_t identity() const {
    return {};
  }
  C10_HOST_DEVICE acc_t reduce(acc_t a, double x) const {
    const double delta = x - a.mean, mean = a.mean + delta / double(a.n + 1);
    return {mean, a.m2 + delta * (x - mean), a.n + 1};
  }
  C10_HOST_DEVICE acc_t combine(acc_t a, acc_t b) const {
    if (a.n == 0 || b.n == 0) {
      return a.n == 0 ? b : a;
    }
    const double delta = b.mean - a.mean, share = double(b.n) / double(a.n + b.n);
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * double(a.n) * share, a.n + b.n};
  }
  C10_HOST_DEVICE out_t project(acc_t a) const {
    const double divisor = double(a.n) > correction ? double(a.n) - correction : 0;
    const double var = a.m2 / divisor;
    return out_t(opmath_type<out_t>(take_sqrt ? std::sqrt(var) : var));
  }
};

} // namespace reftorch::at::native
