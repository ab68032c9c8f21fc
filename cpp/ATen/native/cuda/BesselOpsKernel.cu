// Mirrors: aten/src/ATen/native/cuda/airy_ai.cu, aten/src/ATen/native/cuda/bessel_j0.cu, aten/src/ATen/native/cuda/bessel_j1.cu, aten/src/ATen/native/cuda/bessel_y0.cu, aten/src/ATen/native/cuda/bessel_y1.cu, aten/src/ATen/native/cuda/modified_bessel_i0.cu, aten/src/ATen/native/cuda/modified_bessel_i1.cu, aten/src/ATen/native/cuda/modified_bessel_k0.cu, aten/src/ATen/native/cuda/modified_bessel_k1.cu, aten/src/ATen/native/cuda/scaled_modified_bessel_k0.cu, aten/src/ATen/native/cuda/scaled_modified_bessel_k1.cu, aten/src/ATen/native/cuda/spherical_bessel_j0.cu
//
// The Bessel functions and the Airy function.
#include <ATen/native/BesselOps.h>
#include <ATen/native/BesselOpsFunctors.h>
#include <ATen/native/cuda/Loops.cuh>

namespace reftorch::at::native {

REGISTER_CUDA_ELEMENTWISE(special_airy_ai_stub, airy_ai_kernel_cuda, AiryAiFunctor, "airy_ai_cuda")
REGISTER_CUDA_ELEMENTWISE(special_bessel_j0_stub, bessel_j0_kernel_cuda, BesselJ0Functor, "bessel_j0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_bessel_j1_stub, bessel_j1_kernel_cuda, BesselJ1Functor, "bessel_j1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_bessel_y0_stub, bessel_y0_kernel_cuda, BesselY0Functor, "bessel_y0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_bessel_y1_stub, bessel_y1_kernel_cuda, BesselY1Functor, "bessel_y1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_modified_bessel_i0_stub, modified_bessel_i0_kernel_cuda, ModifiedBesselI0Functor,
                          "modified_bessel_i0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_modified_bessel_i1_stub, modified_bessel_i1_kernel_cuda, ModifiedBesselI1Functor,
                          "modified_bessel_i1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_modified_bessel_k0_stub, modified_bessel_k0_kernel_cuda, ModifiedBesselK0Functor,
                          "modified_bessel_k0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_modified_bessel_k1_stub, modified_bessel_k1_kernel_cuda, ModifiedBesselK1Functor,
                          "modified_bessel_k1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_scaled_modified_bessel_k0_stub, scaled_modified_bessel_k0_kernel_cuda,
                          ScaledModifiedBesselK0Functor, "scaled_modified_bessel_k0_cuda")
REGISTER_CUDA_ELEMENTWISE(special_scaled_modified_bessel_k1_stub, scaled_modified_bessel_k1_kernel_cuda,
                          ScaledModifiedBesselK1Functor, "scaled_modified_bessel_k1_cuda")
REGISTER_CUDA_ELEMENTWISE(special_spherical_bessel_j0_stub, spherical_bessel_j0_kernel_cuda, SphericalBesselJ0Functor,
                          "spherical_bessel_j0_cuda")

} // namespace reftorch::at::native
