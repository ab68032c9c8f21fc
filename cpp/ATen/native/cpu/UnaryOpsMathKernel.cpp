// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions of real numbers from the C library: powers and logarithms of other bases, angles, hyperbolic functions,
// erf. The functions that have a fast version have it in VectorMathWide.h.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(exp2_stub, exp2_kernel, Exp2Functor, "exp2_cpu")
REGISTER_CPU_ELEMENTWISE(log2_stub, log2_kernel, Log2Functor, "log2_cpu")
REGISTER_CPU_ELEMENTWISE(log10_stub, log10_kernel, Log10Functor, "log10_cpu")
REGISTER_CPU_ELEMENTWISE(asin_stub, asin_kernel, AsinFunctor, "asin_cpu")
REGISTER_CPU_ELEMENTWISE(acos_stub, acos_kernel, AcosFunctor, "acos_cpu")
REGISTER_CPU_ELEMENTWISE(atan_stub, atan_kernel, AtanFunctor, "atan_cpu")
REGISTER_CPU_ELEMENTWISE(sinh_stub, sinh_kernel, SinhFunctor, "sinh_cpu")
REGISTER_CPU_ELEMENTWISE(cosh_stub, cosh_kernel, CoshFunctor, "cosh_cpu")
REGISTER_CPU_ELEMENTWISE(asinh_stub, asinh_kernel, AsinhFunctor, "asinh_cpu")
REGISTER_CPU_ELEMENTWISE(acosh_stub, acosh_kernel, AcoshFunctor, "acosh_cpu")
REGISTER_CPU_ELEMENTWISE(atanh_stub, atanh_kernel, AtanhFunctor, "atanh_cpu")
REGISTER_CPU_ELEMENTWISE(erf_stub, erf_kernel, ErfFunctor, "erf_cpu")
REGISTER_CPU_ELEMENTWISE(erfc_stub, erfc_kernel, ErfcFunctor, "erfc_cpu")
REGISTER_CPU_ELEMENTWISE(angle_stub, angle_kernel, AngleFunctor, "angle_cpu")
REGISTER_CPU_ELEMENTWISE(deg2rad_stub, deg2rad_kernel, Deg2RadFunctor, "deg2rad_cpu")
REGISTER_CPU_ELEMENTWISE(rad2deg_stub, rad2deg_kernel, Rad2DegFunctor, "rad2deg_cpu")

} // namespace reftorch::at::native
