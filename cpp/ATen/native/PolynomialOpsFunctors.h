// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (chebyshev_polynomial_t_kernel, ...), aten/src/ATen/native/cuda/chebyshev_polynomial_t.cu and kin
//
// The element functions of the orthogonal polynomials. The formulas are in special/Polynomials.h. Only for float and
// double, as in PyTorch.
#pragma once

#include <ATen/native/InDouble.h>
#include <ATen/native/special/Polynomials.h>

#include <limits>

namespace reftorch::at::native {

template <typename scalar_t>
using ChebyshevPolynomialTFunctor = InDouble<scalar_t, FloatingTypes, chebyshev_polynomial_t>;
template <typename scalar_t>
using ChebyshevPolynomialUFunctor = InDouble<scalar_t, FloatingTypes, chebyshev_polynomial_u>;
template <typename scalar_t>
using ChebyshevPolynomialVFunctor = InDouble<scalar_t, FloatingTypes, chebyshev_polynomial_v>;
template <typename scalar_t>
using ChebyshevPolynomialWFunctor = InDouble<scalar_t, FloatingTypes, chebyshev_polynomial_w>;

// A degree above the limit gives NaN, as in PyTorch: at such degrees the values at most points are outside the range of
// the dtype.
template <typename scalar_t, double (*f)(double x, double n)>
struct HermiteFunctor {
  using dtypes = FloatingTypes;
  static constexpr scalar_t kLimit = std::is_same_v<scalar_t, float> ? 128 : 512;
  static constexpr scalar_t kNaN = std::numeric_limits<scalar_t>::quiet_NaN();
  C10_HOST_DEVICE scalar_t operator()(scalar_t x, scalar_t n) const {
    return n > kLimit ? kNaN : static_cast<scalar_t>(f(x, n));
  }
};
template <typename scalar_t>
using HermitePolynomialHFunctor = HermiteFunctor<scalar_t, hermite_polynomial_h>;
template <typename scalar_t>
using HermitePolynomialHeFunctor = HermiteFunctor<scalar_t, hermite_polynomial_he>;

template <typename scalar_t>
using LaguerrePolynomialLFunctor = InDouble<scalar_t, FloatingTypes, laguerre_polynomial_l>;
template <typename scalar_t>
using LegendrePolynomialPFunctor = InDouble<scalar_t, FloatingTypes, legendre_polynomial_p>;

template <typename scalar_t>
using ShiftedChebyshevPolynomialTFunctor = InDouble<scalar_t, FloatingTypes, shifted_chebyshev_polynomial_t>;
template <typename scalar_t>
using ShiftedChebyshevPolynomialUFunctor = InDouble<scalar_t, FloatingTypes, shifted_chebyshev_polynomial_u>;
template <typename scalar_t>
using ShiftedChebyshevPolynomialVFunctor = InDouble<scalar_t, FloatingTypes, shifted_chebyshev_polynomial_v>;
template <typename scalar_t>
using ShiftedChebyshevPolynomialWFunctor = InDouble<scalar_t, FloatingTypes, shifted_chebyshev_polynomial_w>;

} // namespace reftorch::at::native
