// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, aten/src/ATen/native/cuda/CompareKernels.cu, aten/src/ATen/native/cuda/BinaryBitwiseOpsKernels.cu and kin
//
// The element functions of comparisons, of truth values and of bits. The kernels of the CPU and of CUDA run the same
// text.
#pragma once

#include <ATen/Dispatch.h>
#include <c10/macros/Macros.h>

#include <limits>

namespace reftorch::at::native {

// --- comparisons: the operands have one dtype, the result is bool ----------------------------------------------------

template <typename scalar_t>
struct EqFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a == b;
  }
};

template <typename scalar_t>
struct NeFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a != b;
  }
};

template <typename scalar_t>
struct LtFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a < b;
  }
};

template <typename scalar_t>
struct LeFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a <= b;
  }
};

template <typename scalar_t>
struct GtFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a > b;
  }
};

template <typename scalar_t>
struct GeFunctor {
  using dtypes = AllTypesAndBool;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE bool operator()(opmath_t a, opmath_t b) const {
    return a >= b;
  }
};

// --- truth values: the iterator has converted the operands to bool ---------------------------------------------------

template <typename scalar_t>
struct LogicalAndFunctor {
  using dtypes = TypeSet<bool>;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a & b;
  }
};

template <typename scalar_t>
struct LogicalOrFunctor {
  using dtypes = TypeSet<bool>;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a | b;
  }
};

template <typename scalar_t>
struct LogicalXorFunctor {
  using dtypes = TypeSet<bool>;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a != b;
  }
};

// --- bits ------------------------------------------------------------------------------------------------------------

template <typename scalar_t>
struct BitwiseAndFunctor {
  using dtypes = IntegralTypesAndBool;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a & b;
  }
};

template <typename scalar_t>
struct BitwiseOrFunctor {
  using dtypes = IntegralTypesAndBool;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a | b;
  }
};

template <typename scalar_t>
struct BitwiseXorFunctor {
  using dtypes = IntegralTypesAndBool;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    return a ^ b;
  }
};

// A shift by the width of the type or more, or by a negative number, moves every bit out. A left shift then gives 0; a
// right shift gives 0 for a number that is not negative, and -1 for a negative one.
template <typename scalar_t>
struct LeftShiftFunctor {
  using dtypes = IntegralTypes;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    using unsigned_t = std::make_unsigned_t<scalar_t>;
    constexpr int bits = std::numeric_limits<unsigned_t>::digits;
    return b < 0 || b >= bits ? 0 : static_cast<scalar_t>(static_cast<unsigned_t>(a) << b);
  }
};

template <typename scalar_t>
struct RightShiftFunctor {
  using dtypes = IntegralTypes;
  C10_HOST_DEVICE scalar_t operator()(scalar_t a, scalar_t b) const {
    constexpr int digits = std::numeric_limits<scalar_t>::digits; // `digits` does not count the sign bit
    return b < 0 || b >= digits ? static_cast<scalar_t>(a < 0 ? -1 : 0) : static_cast<scalar_t>(a >> b);
  }
};

} // namespace reftorch::at::native
