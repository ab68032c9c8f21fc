// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (bessel_j0_kernel, ...), aten/src/ATen/native/cuda/bessel_j0.cu and kin
//
// The element functions of the Bessel functions and of the Airy function. The formulas are in special/BesselSecond.h
// and special/Bessel.h. Only for float and double, as in PyTorch.
#pragma once

#include <ATen/native/InDouble.h>
#include <ATen/native/special/BesselSecond.h>

namespace reftorch::at::native {

template <typename scalar_t>
using AiryAiFunctor = InDouble<scalar_t, FloatingTypes, calc_airy_ai>;
template <typename scalar_t>
using BesselJ0Functor = InDouble<scalar_t, FloatingTypes, calc_bessel_j0>;
template <typename scalar_t>
using BesselJ1Functor = InDouble<scalar_t, FloatingTypes, calc_bessel_j1>;
template <typename scalar_t>
using BesselY0Functor = InDouble<scalar_t, FloatingTypes, calc_bessel_y0>;
template <typename scalar_t>
using BesselY1Functor = InDouble<scalar_t, FloatingTypes, calc_bessel_y1>;
template <typename scalar_t>
using ModifiedBesselI0Functor = InDouble<scalar_t, FloatingTypes, calc_i0>;
template <typename scalar_t>
using ModifiedBesselI1Functor = InDouble<scalar_t, FloatingTypes, calc_i1>;
template <typename scalar_t>
using ModifiedBesselK0Functor = InDouble<scalar_t, FloatingTypes, calc_modified_bessel_k0>;
template <typename scalar_t>
using ModifiedBesselK1Functor = InDouble<scalar_t, FloatingTypes, calc_modified_bessel_k1>;
template <typename scalar_t>
using ScaledModifiedBesselK0Functor = InDouble<scalar_t, FloatingTypes, calc_scaled_modified_bessel_k0>;
template <typename scalar_t>
using ScaledModifiedBesselK1Functor = InDouble<scalar_t, FloatingTypes, calc_scaled_modified_bessel_k1>;
template <typename scalar_t>
using SphericalBesselJ0Functor = InDouble<scalar_t, FloatingTypes, calc_spherical_bessel_j0>;

} // namespace reftorch::at::native
