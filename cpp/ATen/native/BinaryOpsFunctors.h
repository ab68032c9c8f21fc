// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, aten/src/ATen/native/cuda/BinaryMulKernel.cu and kin
//
// The element functions of two operands: each computes one element of the result from one element of each operand. The
// kernels of the CPU and of CUDA run the same text; `dtypes` says which element types the op accepts.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/native/BinaryInternal.h>
#include <ATen/native/ElementMath.h>
#include <ATen/native/Math.h>
#include <c10/core/Scalar.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace reftorch::at::native {

// --- sum, product, maximum, minimum ----------------------------------------------------------------------------------

// alpha is rounded to scalar_t first, as in PyTorch.
template <typename scalar_t>
struct AddFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t alpha;
  explicit AddFunctor(const Scalar& alpha) : alpha(alpha.to<scalar_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return a + alpha * b;
  }
};

template <typename scalar_t>
struct MulFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      return a && b;
    } else {
      return a * b;
    }
  }
};

// If an operand is NaN, the result is NaN. NaN is the one value that differs from itself.
template <typename scalar_t>
struct MaximumFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      return a | b; // GCC does not vectorize a choice of two bools
    } else {
      return (a > b) | (a != a) ? a : b;
    }
  }
};

template <typename scalar_t>
struct MinimumFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      return a & b; // GCC does not vectorize a choice of two bools
    } else {
      return (a < b) | (a != a) ? a : b;
    }
  }
};

// --- derivatives of functions of one operand, and the loss that is a square ------------------------------------------

// y is the result of sigmoid.
template <typename scalar_t>
struct SigmoidBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t y) const {
    return grad * (opmath_t(1) - y) * y;
  }
};

// y is the result of tanh.
template <typename scalar_t>
struct TanhBackwardFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t grad, opmath_t y) const {
    return grad * (opmath_t(1) - y * y);
  }
};

// (a - b)^2
template <typename scalar_t>
struct MseFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    const opmath_t difference = a - b;
    return difference * difference;
  }
};

template <typename scalar_t>
struct MseBackwardFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  opmath_t factor;
  explicit MseBackwardFunctor(const Scalar& factor) : factor(factor.to<opmath_t>()) {}

  C10_HOST_DEVICE opmath_t operator()(opmath_t self, opmath_t target, opmath_t grad) const {
    return factor * (self - target) * grad;
  }
};

// --- division --------------------------------------------------------------------------------------------------------

// The value of an integer division by zero, which no processor computes: the number with all bits set, as on a GPU. The
// CPU's kernels raise ZeroDivisionError instead, before or after the loop.
template <typename scalar_t>
C10_HOST_DEVICE scalar_t divided_by_zero() {
  return static_cast<scalar_t>(~scalar_t(0));
}

template <typename scalar_t>
struct DivTrueFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return a / b;
  }
};

// The quotient, rounded toward zero.
template <typename scalar_t>
struct DivTruncFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return b == 0 ? divided_by_zero<scalar_t>() : div_trunc_integer(a, b);
    } else {
      const scalar_t quotient = a / b; // rounded to 16 bits first, as in PyTorch: 17.98 becomes 18
      return std::trunc(opmath_t(quotient));
    }
  }
};

// The quotient, rounded down.
template <typename scalar_t>
struct DivFloorFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return b == 0 ? divided_by_zero<scalar_t>() : div_floor_integer(a, b);
    } else {
      return div_floor_floating(a, b, std::fmod(a, b));
    }
  }
};

// The remainder has the sign of the divisor, as in Python.
template <typename scalar_t>
struct RemainderFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return b == 0 ? divided_by_zero<scalar_t>() : remainder_integer(a, b);
    } else {
      return signed_as_divisor(std::fmod(a, b), b);
    }
  }
};

// The remainder has the sign of the dividend, as in C.
template <typename scalar_t>
struct FmodFunctor {
  using dtypes = AllNumbers;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    if constexpr (std::is_integral_v<scalar_t>) {
      return b == 0 ? divided_by_zero<scalar_t>() : fmod_integer(a, b);
    } else {
      return std::fmod(a, b);
    }
  }
};

} // namespace reftorch::at::native
