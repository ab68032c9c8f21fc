// Mirrors: aten/src/ATen/NumericUtils.h (exp, log), aten/src/ATen/cpu/vec/vec_base.h
//
// The functions of real numbers that element functions call. On the CPU they are the quick versions of VectorMath.h,
// which the compiler can turn into vector instructions; in the code of a GPU they are CUDA's own functions. So one text
// of an element function is right and quick on both devices. Sine, cosine and tangent are not here: their quick
// versions are right for small angles only, so the CPU's kernels choose between the two versions (TwoRungs.h).
#pragma once

#include <ATen/cpu/vec/VectorMathDouble.h>
#include <ATen/cpu/vec/VectorMathWide.h>
#include <c10/macros/Macros.h>

#include <cmath>

#ifdef __CUDA_ARCH__
#define ELEMENT_MATH(name) std::name
#else
#define ELEMENT_MATH(name) vec_##name
#endif
#define ELEMENT_FUNCTION(name)                    \
  template <typename... T>                        \
  C10_HOST_DEVICE VECTOR_MATH auto name(T... x) { \
    return ELEMENT_MATH(name)(x...);              \
  }

namespace reftorch::at::native::math {

ELEMENT_FUNCTION(exp)
ELEMENT_FUNCTION(exp2)
ELEMENT_FUNCTION(expm1)
ELEMENT_FUNCTION(log)
ELEMENT_FUNCTION(log1p)
ELEMENT_FUNCTION(log2)
ELEMENT_FUNCTION(log10)
ELEMENT_FUNCTION(asin)
ELEMENT_FUNCTION(acos)
ELEMENT_FUNCTION(atan)
ELEMENT_FUNCTION(atan2)
ELEMENT_FUNCTION(sinh)
ELEMENT_FUNCTION(cosh)
ELEMENT_FUNCTION(tanh)
ELEMENT_FUNCTION(asinh)
ELEMENT_FUNCTION(acosh)
ELEMENT_FUNCTION(atanh)
ELEMENT_FUNCTION(hypot)
ELEMENT_FUNCTION(pow)
ELEMENT_FUNCTION(erf)
ELEMENT_FUNCTION(erfc)
ELEMENT_FUNCTION(lgamma)

// a 2^n for a number n without fraction.
template <typename T>
C10_HOST_DEVICE VECTOR_MATH T ldexp(T a, T n) {
#ifdef __CUDA_ARCH__
  return std::ldexp(a, static_cast<int>(n));
#else
  return vec_ldexp(a, n);
#endif
}

} // namespace reftorch::at::native::math

#undef ELEMENT_FUNCTION
#undef ELEMENT_MATH
