// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Mathematical functions of two numbers.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Math.h>
#include <ATen/native/cpu/UnaryFloat.h>
#include <ATen/native/cpu/VectorMathWide.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace reftorch::at::native {
namespace {

// If one operand is NaN, the result is the other operand. Integers have no NaN.
void fmax_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    maximum_stub(iter.device_type(), iter);
  } else {
    binary_float_kernel(iter, "fmax_cpu", [](auto a, auto b) { return std::fmax(a, b); });
  }
}
void fmin_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    minimum_stub(iter.device_type(), iter);
  } else {
    binary_float_kernel(iter, "fmin_cpu", [](auto a, auto b) { return std::fmin(a, b); });
  }
}

void atan2_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "atan2_cpu", [](auto a, auto b) { return vec_atan2(a, b); });
}
void hypot_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "hypot_cpu", [](auto a, auto b) { return vec_hypot(a, b); });
}
void copysign_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "copysign_cpu", [](auto a, auto b) { return std::copysign(a, b); });
}

// a log(b); where a is zero and b is not NaN, the result is zero.
void xlogy_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "xlogy_cpu", [](auto a, auto b) { return (a == 0) & (b == b) ? 0 : a * vec_log(b); });
}

// log(e^a + e^b) = max + log(1 + e^-|a - b|). The larger exponential is factored out, so that no exponential overflows.
// Two equal infinities are a case of their own, because their difference is NaN.
void logaddexp_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "logaddexp_cpu", [](auto a, auto b) {
    return std::isinf(a) & (a == b) ? a : std::max(a, b) + vec_log1p(vec_exp(-std::abs(a - b)));
  });
}
void logaddexp2_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "logaddexp2_cpu", [](auto a, auto b) {
    constexpr auto log2e = static_cast<decltype(a)>(M_LOG2E);
    return std::isinf(a) & (a == b) ? a : std::max(a, b) + vec_log1p(vec_exp2(-std::abs(a - b))) * log2e;
  });
}

// The result is exact even where 2^b itself would overflow.
void ldexp_kernel(TensorIterator& iter) {
  binary_float_kernel(iter, "ldexp_cpu", [](auto a, auto b) { return vec_ldexp(a, b); });
}

// Adds or subtracts one in the bit pattern: apart from the sign, bit patterns have the same order as their numbers.
template <typename T>
T next_after(T a, T b) {
  using bits_t = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  constexpr auto kSign = static_cast<bits_t>(bits_t(1) << (8 * sizeof(T) - 1));
  const opmath_type<T> from = a, to = b;
  bits_t bits;
  std::memcpy(&bits, &a, sizeof(bits));
  const bits_t away = bits + 1, smallest = to < 0 ? kSign | 1 : 1, toward = bits - 1;
  bits = from == 0 ? smallest : (from < to) == (from > 0) ? away : toward;
  std::memcpy(&a, &bits, sizeof(bits));
  return (from != from) | (to != to) ? static_cast<T>(from + to) : from == to ? b : a;
}

void nextafter_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "nextafter_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return next_after(a, b); });
  });
}

void heaviside_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "heaviside_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(
        iter, [](opmath_t a, opmath_t value) -> opmath_t { return a == 0 ? value : static_cast<opmath_t>(a > 0); });
  });
}

void gcd_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "gcd_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return calc_gcd(a, b); });
  });
}

// The least common multiple, never negative; 0 where an operand is 0.
void lcm_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "lcm_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      using wide = std::common_type_t<scalar_t, int>;
      using unsigned_wide = std::make_unsigned_t<wide>; // wraps around, where a signed product would overflow
      const scalar_t divisor = calc_gcd(a, b);
      if (divisor == 0) {
        return 0;
      }
      const auto product = static_cast<unsigned_wide>(a / divisor) * static_cast<unsigned_wide>(b);
      return static_cast<scalar_t>(static_cast<wide>(product) < 0 ? 0 - product : product);
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(fmax_stub, fmax_kernel)
REGISTER_CPU_DISPATCH(fmin_stub, fmin_kernel)
REGISTER_CPU_DISPATCH(atan2_stub, atan2_kernel)
REGISTER_CPU_DISPATCH(hypot_stub, hypot_kernel)
REGISTER_CPU_DISPATCH(copysign_stub, copysign_kernel)
REGISTER_CPU_DISPATCH(xlogy_stub, xlogy_kernel)
REGISTER_CPU_DISPATCH(logaddexp_stub, logaddexp_kernel)
REGISTER_CPU_DISPATCH(logaddexp2_stub, logaddexp2_kernel)
REGISTER_CPU_DISPATCH(ldexp_stub, ldexp_kernel)
REGISTER_CPU_DISPATCH(nextafter_stub, nextafter_kernel)
REGISTER_CPU_DISPATCH(heaviside_stub, heaviside_kernel)
REGISTER_CPU_DISPATCH(gcd_stub, gcd_kernel)
REGISTER_CPU_DISPATCH(lcm_stub, lcm_kernel)

} // namespace reftorch::at::native
