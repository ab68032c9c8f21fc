// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, aten/src/ATen/native/cuda/BinaryMiscOpsKernels.cu, aten/src/ATen/native/cuda/GcdLcmKernel.cu and kin
//
// The element functions of mathematical functions of two numbers. The kernels of the CPU and of CUDA run the same text.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/ElementMath.h>
#include <ATen/native/Math.h>

#include <cmath>
#include <cstring>

namespace reftorch::at::native {

// If one operand is NaN, the result is the other operand. Integers have no NaN; their kernel is that of maximum.
template <typename scalar_t>
struct FmaxFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return std::fmax(a, b);
  }
};

template <typename scalar_t>
struct FminFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return std::fmin(a, b);
  }
};

template <typename scalar_t>
struct Atan2Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return math::atan2(a, b);
  }
};

template <typename scalar_t>
struct HypotFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return math::hypot(a, b);
  }
};

template <typename scalar_t>
struct CopysignFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return std::copysign(a, b);
  }
};

// a log(b); where a is zero and b is not NaN, the result is zero.
template <typename scalar_t>
struct XlogyFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return (a == 0) & (b == b) ? opmath_t(0) : a * math::log(b);
  }
};

// log(e^a + e^b) = max + log(1 + e^-|a - b|). The larger exponential is factored out, so that no exponential overflows.
// Two equal infinities are a case of their own, because their difference is NaN.
template <typename scalar_t>
struct LogaddexpFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    const opmath_t larger = a < b ? b : a;
    return std::isinf(a) & (a == b) ? a : larger + math::log1p(math::exp(-std::fabs(a - b)));
  }
};

template <typename scalar_t>
struct Logaddexp2Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    constexpr opmath_t log2e = static_cast<opmath_t>(M_LOG2E);
    const opmath_t larger = a < b ? b : a;
    return std::isinf(a) & (a == b) ? a : larger + math::log1p(math::exp2(-std::fabs(a - b))) * log2e;
  }
};

// a 2^b. The result is exact even where 2^b itself would overflow.
template <typename scalar_t>
struct LdexpFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return math::ldexp(a, b);
  }
};

// Adds or subtracts one in the bit pattern: apart from the sign, bit patterns have the same order as their numbers.
template <typename scalar_t>
struct NextafterFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    using bits_t = std::conditional_t<sizeof(scalar_t) == 8, uint64_t,
                                      std::conditional_t<sizeof(scalar_t) == 4, uint32_t, uint16_t>>;
    constexpr auto kSign = static_cast<bits_t>(bits_t(1) << (8 * sizeof(scalar_t) - 1));
    const opmath_t from = a, to = b;
    bits_t bits;
    std::memcpy(&bits, &a, sizeof(bits));
    const bits_t away = bits + 1, smallest = to < 0 ? kSign | 1 : 1, toward = bits - 1;
    bits = from == 0 ? smallest : (from < to) == (from > 0) ? away : toward;
    std::memcpy(&a, &bits, sizeof(bits));
    return (from != from) | (to != to) ? static_cast<scalar_t>(from + to) : from == to ? b : a;
  }
};

template <typename scalar_t>
struct HeavisideFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t value) const {
    return a == 0 ? value : static_cast<opmath_t>(a > 0);
  }
};

template <typename scalar_t>
struct GcdFunctor {
  using dtypes = IntegralTypes;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return calc_gcd(a, b);
  }
};

// The least common multiple, never negative; 0 where an operand is 0.
template <typename scalar_t>
struct LcmFunctor {
  using dtypes = IntegralTypes;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    using wide = std::common_type_t<scalar_t, int>;
    using unsigned_wide = std::make_unsigned_t<wide>; // wraps around, where a signed product would overflow
    const scalar_t divisor = calc_gcd(a, b);
    if (divisor == 0) {
      return 0;
    }
    const auto product = static_cast<unsigned_wide>(a / divisor) * static_cast<unsigned_wide>(b);
    return static_cast<scalar_t>(static_cast<wide>(product) < 0 ? 0 - product : product);
  }
};

} // namespace reftorch::at::native
