// Mirrors: aten/src/ATen/native/cuda/UnaryLogKernels.cu, aten/src/ATen/native/cuda/UnaryGeometricAsinKernel.cu and kin
//
// Functions of real numbers from the C library: powers and logarithms of other bases, trigonometric and hyperbolic
// functions, erf.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/UnaryOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(exp2_stub, exp2_kernel_cuda, Exp2Functor, "exp2_cuda")
REGISTER_CUDA_ELEMENTWISE(log2_stub, log2_kernel_cuda, Log2Functor, "log2_cuda")
REGISTER_CUDA_ELEMENTWISE(log10_stub, log10_kernel_cuda, Log10Functor, "log10_cuda")
REGISTER_CUDA_ELEMENTWISE(asin_stub, asin_kernel_cuda, AsinFunctor, "asin_cuda")
REGISTER_CUDA_ELEMENTWISE(acos_stub, acos_kernel_cuda, AcosFunctor, "acos_cuda")
REGISTER_CUDA_ELEMENTWISE(atan_stub, atan_kernel_cuda, AtanFunctor, "atan_cuda")
REGISTER_CUDA_ELEMENTWISE(sinh_stub, sinh_kernel_cuda, SinhFunctor, "sinh_cuda")
REGISTER_CUDA_ELEMENTWISE(cosh_stub, cosh_kernel_cuda, CoshFunctor, "cosh_cuda")
REGISTER_CUDA_ELEMENTWISE(asinh_stub, asinh_kernel_cuda, AsinhFunctor, "asinh_cuda")
REGISTER_CUDA_ELEMENTWISE(acosh_stub, acosh_kernel_cuda, AcoshFunctor, "acosh_cuda")
REGISTER_CUDA_ELEMENTWISE(atanh_stub, atanh_kernel_cuda, AtanhFunctor, "atanh_cuda")
REGISTER_CUDA_ELEMENTWISE(erf_stub, erf_kernel_cuda, ErfFunctor, "erf_cuda")
REGISTER_CUDA_ELEMENTWISE(erfc_stub, erfc_kernel_cuda, ErfcFunctor, "erfc_cuda")
REGISTER_CUDA_ELEMENTWISE(angle_stub, angle_kernel_cuda, AngleFunctor, "angle_cuda")
REGISTER_CUDA_ELEMENTWISE(deg2rad_stub, deg2rad_kernel_cuda, Deg2RadFunctor, "deg2rad_cuda")
REGISTER_CUDA_ELEMENTWISE(rad2deg_stub, rad2deg_kernel_cuda, Rad2DegFunctor, "rad2deg_cuda")

} // namespace reftorch::at::native
