// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Mathematical functions of two numbers.
#include <ATen/native/BinaryMathOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// Integers have no NaN, so their maximum and minimum are those of maximum and minimum.
void fmax_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    maximum_stub(iter.device_type(), iter);
  } else {
    cpu_elementwise<FmaxFunctor>(iter, "fmax_cpu");
  }
}
void fmin_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    minimum_stub(iter.device_type(), iter);
  } else {
    cpu_elementwise<FminFunctor>(iter, "fmin_cpu");
  }
}

} // namespace

REGISTER_CPU_DISPATCH(fmax_stub, fmax_kernel)
REGISTER_CPU_DISPATCH(fmin_stub, fmin_kernel)
REGISTER_CPU_ELEMENTWISE(atan2_stub, atan2_kernel, Atan2Functor, "atan2_cpu")
REGISTER_CPU_ELEMENTWISE(hypot_stub, hypot_kernel, HypotFunctor, "hypot_cpu")
REGISTER_CPU_ELEMENTWISE(copysign_stub, copysign_kernel, CopysignFunctor, "copysign_cpu")
REGISTER_CPU_ELEMENTWISE(xlogy_stub, xlogy_kernel, XlogyFunctor, "xlogy_cpu")
REGISTER_CPU_ELEMENTWISE(logaddexp_stub, logaddexp_kernel, LogaddexpFunctor, "logaddexp_cpu")
REGISTER_CPU_ELEMENTWISE(logaddexp2_stub, logaddexp2_kernel, Logaddexp2Functor, "logaddexp2_cpu")
REGISTER_CPU_ELEMENTWISE(ldexp_stub, ldexp_kernel, LdexpFunctor, "ldexp_cpu")
REGISTER_CPU_ELEMENTWISE(nextafter_stub, nextafter_kernel, NextafterFunctor, "nextafter_cpu")
REGISTER_CPU_ELEMENTWISE(heaviside_stub, heaviside_kernel, HeavisideFunctor, "heaviside_cpu")
REGISTER_CPU_ELEMENTWISE(gcd_stub, gcd_kernel, GcdFunctor, "gcd_cpu")
REGISTER_CPU_ELEMENTWISE(lcm_stub, lcm_kernel, LcmFunctor, "lcm_cpu")

} // namespace reftorch::at::native
