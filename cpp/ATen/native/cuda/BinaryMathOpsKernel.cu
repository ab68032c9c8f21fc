// Mirrors: aten/src/ATen/native/cuda/BinaryMiscOpsKernels.cu, aten/src/ATen/native/cuda/GcdLcmKernel.cu, aten/src/ATen/native/cuda/StepKernel.cu and kin
//
// Mathematical functions of two numbers.
#include <ATen/native/BinaryMathOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {
namespace {

// Integers have no NaN, so their maximum and minimum are those of maximum and minimum.
void fmax_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    maximum_stub(iter.device_type(), iter);
  } else {
    gpu_elementwise<FmaxFunctor>(iter, "fmax_cuda");
  }
}
void fmin_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    minimum_stub(iter.device_type(), iter);
  } else {
    gpu_elementwise<FminFunctor>(iter, "fmin_cuda");
  }
}

} // namespace

REGISTER_CUDA_DISPATCH(fmax_stub, fmax_kernel)
REGISTER_CUDA_DISPATCH(fmin_stub, fmin_kernel)
REGISTER_CUDA_ELEMENTWISE(atan2_stub, atan2_kernel_cuda, Atan2Functor, "atan2_cuda")
REGISTER_CUDA_ELEMENTWISE(hypot_stub, hypot_kernel_cuda, HypotFunctor, "hypot_cuda")
REGISTER_CUDA_ELEMENTWISE(copysign_stub, copysign_kernel_cuda, CopysignFunctor, "copysign_cuda")
REGISTER_CUDA_ELEMENTWISE(xlogy_stub, xlogy_kernel_cuda, XlogyFunctor, "xlogy_cuda")
REGISTER_CUDA_ELEMENTWISE(logaddexp_stub, logaddexp_kernel_cuda, LogaddexpFunctor, "logaddexp_cuda")
REGISTER_CUDA_ELEMENTWISE(logaddexp2_stub, logaddexp2_kernel_cuda, Logaddexp2Functor, "logaddexp2_cuda")
REGISTER_CUDA_ELEMENTWISE(ldexp_stub, ldexp_kernel_cuda, LdexpFunctor, "ldexp_cuda")
REGISTER_CUDA_ELEMENTWISE(nextafter_stub, nextafter_kernel_cuda, NextafterFunctor, "nextafter_cuda")
REGISTER_CUDA_ELEMENTWISE(heaviside_stub, heaviside_kernel_cuda, HeavisideFunctor, "heaviside_cuda")
REGISTER_CUDA_ELEMENTWISE(gcd_stub, gcd_kernel_cuda, GcdFunctor, "gcd_cuda")
REGISTER_CUDA_ELEMENTWISE(lcm_stub, lcm_kernel_cuda, LcmFunctor, "lcm_cuda")

} // namespace reftorch::at::native
