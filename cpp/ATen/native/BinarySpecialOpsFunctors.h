// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, aten/src/ATen/native/cuda/IGammaKernel.cu, aten/src/ATen/native/cuda/ZetaKernel.cu, aten/src/ATen/native/cuda/BinaryMiscOpsKernels.cu
//
// The element functions of special functions of two numbers. The kernels of the CPU and of CUDA run the same text.
#pragma once

#include <ATen/native/ElementMath.h>
#include <ATen/native/InDouble.h>
#include <ATen/native/Math.h>
#include <ATen/native/special/Gamma.h>

namespace reftorch::at::native {

template <typename scalar_t>
using IgammaFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_igamma>;
template <typename scalar_t>
using IgammacFunctor = InDouble<scalar_t, FloatingTypesAndReduced, calc_igammac>;

// Only for float and double, as in PyTorch.
template <typename scalar_t>
using ZetaFunctor = InDouble<scalar_t, FloatingTypes, zeta>;

// a log(1 + b); where a is zero and b is not NaN, the result is zero.
template <typename scalar_t>
struct Xlog1pyFunctor {
  using dtypes = FloatingTypesAndReduced;
  using opmath_t = opmath_type<scalar_t>;
  C10_HOST_DEVICE opmath_t operator()(opmath_t a, opmath_t b) const {
    return (a == 0) & (b == b) ? opmath_t(0) : a * math::log1p(b);
  }
};

} // namespace reftorch::at::native
