// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cuda/UnaryOpsKernel.cu and kin
//
// The element functions of one operand: each computes one element of the result from one element of the argument. The
// kernels of the CPU and of CUDA run the same text; `dtypes` says which element types the op accepts.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/ElementMath.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace reftorch::at::native {

// --- the result has the dtype of the argument ------------------------------------------------------------------------

// Whether T is a 16-bit float. The sign of such a float is one bit, which can change without a conversion to float.
template <typename T>
constexpr bool is_reduced = !std::is_same_v<T, opmath_type<T>>;

template <typename scalar_t>
struct NegFunctor {
  using dtypes = AllNumbers;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a) const {
    if constexpr (is_reduced<scalar_t>) {
      return scalar_t(a.x ^ 0x8000, scalar_t::from_bits());
    } else {
      return -a;
    }
  }
};

template <typename scalar_t>
struct AbsFunctor {
  using dtypes = AllNumbers;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a) const {
    if constexpr (is_reduced<scalar_t>) {
      return scalar_t(a.x & 0x7fff, scalar_t::from_bits());
    } else if constexpr (std::is_floating_point_v<scalar_t>) {
      return std::fabs(a); // a comparison would keep the sign of -0
    } else if constexpr (std::is_unsigned_v<scalar_t>) {
      return a;
    } else {
      return a < 0 ? -a : a;
    }
  }
};

// The result is -1, 0 or 1; NaN gives 0.
template <typename scalar_t>
struct SignFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return (opmath_t(0) < a) - (a < opmath_t(0));
  }
};

template <typename scalar_t>
struct BitwiseNotFunctor {
  using dtypes = IntegralTypesAndBool;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a) const {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      return !a;
    } else {
      return ~a;
    }
  }
};

template <typename scalar_t>
struct LogicalNotFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a) const {
    return a == opmath_t(0);
  }
};

template <typename scalar_t>
struct FloorFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::floor(a);
  }
};

template <typename scalar_t>
struct CeilFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::ceil(a);
  }
};

// A number halfway between two integers is rounded to the even one.
template <typename scalar_t>
struct RoundFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::nearbyint(a);
  }
};

template <typename scalar_t>
struct TruncFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::trunc(a);
  }
};

template <typename scalar_t>
struct FracFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a - std::trunc(a);
  }
};

// Rounds to `decimals` digits after the decimal point; a negative number of decimals rounds to tens, hundreds and so
// on.
template <typename scalar_t>
struct RoundDecimalsFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t shift;
  bool up;
  explicit RoundDecimalsFunctor(int64_t decimals)
      : shift(static_cast<opmath_t>(std::pow(10., std::abs(static_cast<double>(decimals))))), up(decimals >= 0) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return up ? std::nearbyint(a * shift) / shift : std::nearbyint(a / shift) * shift;
  }
};

// Reads the sign bit itself, which zeros and NaN have as well.
template <typename scalar_t>
struct SignbitFunctor {
  using dtypes = AllTypesAndBool;
  C10_HOST_DEVICE bool operator()(scalar_t a) const {
    if constexpr (std::is_unsigned_v<scalar_t>) {
      return false;
    } else {
      uint8_t bytes[sizeof(a)];
      std::memcpy(bytes, &a, sizeof(a));
      return (bytes[sizeof(a) - 1] & 0x80) != 0; // little endian
    }
  }
};

// Replaces NaN and the infinities. A replacement that is missing is 0 for NaN, and the largest or the smallest finite
// number for an infinity.
template <typename scalar_t>
struct NanToNumFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  static constexpr opmath_t kInf = std::numeric_limits<opmath_t>::infinity();
  opmath_t nan, posinf, neginf;
  NanToNumFunctor(std::optional<double> for_nan, std::optional<double> for_posinf, std::optional<double> for_neginf)
      : nan(static_cast<opmath_t>(for_nan.value_or(0))),
        posinf(for_posinf.has_value() ? static_cast<opmath_t>(*for_posinf)
                                      : opmath_t(std::numeric_limits<scalar_t>::max())),
        neginf(for_neginf.has_value() ? static_cast<opmath_t>(*for_neginf)
                                      : opmath_t(std::numeric_limits<scalar_t>::lowest())) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a != a ? nan : a == kInf ? posinf : a == -kInf ? neginf : a;
  }
};

// --- functions of real numbers: the iterator has converted integers to floats ----------------------------------------

template <typename scalar_t>
struct SqrtFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::sqrt(a);
  }
};

template <typename scalar_t>
struct RsqrtFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return opmath_t(1) / std::sqrt(a);
  }
};

template <typename scalar_t>
struct ReciprocalFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return opmath_t(1) / a;
  }
};

template <typename scalar_t>
struct ExpFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::exp(a);
  }
};

template <typename scalar_t>
struct Exp2Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::exp2(a);
  }
};

template <typename scalar_t>
struct Expm1Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::expm1(a);
  }
};

template <typename scalar_t>
struct LogFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::log(a);
  }
};

template <typename scalar_t>
struct Log1pFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::log1p(a);
  }
};

template <typename scalar_t>
struct Log2Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::log2(a);
  }
};

template <typename scalar_t>
struct Log10Functor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::log10(a);
  }
};

template <typename scalar_t>
struct SinFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::sin(a);
  }
};

template <typename scalar_t>
struct CosFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::cos(a);
  }
};

template <typename scalar_t>
struct TanFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return std::tan(a);
  }
};

template <typename scalar_t>
struct AsinFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::asin(a);
  }
};

template <typename scalar_t>
struct AcosFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::acos(a);
  }
};

template <typename scalar_t>
struct AtanFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::atan(a);
  }
};

template <typename scalar_t>
struct SinhFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::sinh(a);
  }
};

template <typename scalar_t>
struct CoshFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::cosh(a);
  }
};

template <typename scalar_t>
struct TanhFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::tanh(a);
  }
};

template <typename scalar_t>
struct AsinhFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::asinh(a);
  }
};

template <typename scalar_t>
struct AcoshFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::acosh(a);
  }
};

template <typename scalar_t>
struct AtanhFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::atanh(a);
  }
};

template <typename scalar_t>
struct SigmoidFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return opmath_t(1) / (opmath_t(1) + math::exp(-a));
  }
};

template <typename scalar_t>
struct ErfFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::erf(a);
  }
};

template <typename scalar_t>
struct ErfcFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return math::erfc(a);
  }
};

// The factor is pi / 180.
template <typename scalar_t>
struct Deg2RadFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a * opmath_t(0.01745329251994329576923690768489);
  }
};

// The factor is 180 / pi.
template <typename scalar_t>
struct Rad2DegFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a * opmath_t(57.295779513082320876798154814105);
  }
};

// The angle of a real number: 0, or pi if the number is negative.
template <typename scalar_t>
struct AngleFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a) const {
    return a != a ? a : opmath_t(a < 0 ? M_PI : 0);
  }
};

} // namespace reftorch::at::native
