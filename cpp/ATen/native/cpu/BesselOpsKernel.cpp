// Mirrors: aten/src/ATen/native/cpu/airy_ai.cpp, aten/src/ATen/native/cpu/scaled_modified_bessel_k0.cpp, aten/src/ATen/native/cpu/scaled_modified_bessel_k1.cpp, aten/src/ATen/native/cpu/spherical_bessel_j0.cpp, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (bessel_j0_kernel, ...)
//
// The Bessel functions and the Airy function.
#include <ATen/native/BesselOps.h>
#include <ATen/native/BesselOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(special_airy_ai_stub, airy_ai_kernel, AiryAiFunctor, "airy_ai_cpu")
REGISTER_CPU_ELEMENTWISE(special_bessel_j0_stub, bessel_j0_kernel, BesselJ0Functor, "bessel_j0_cpu")
REGISTER_CPU_ELEMENTWISE(special_bessel_j1_stub, bessel_j1_kernel, BesselJ1Functor, "bessel_j1_cpu")
REGISTER_CPU_ELEMENTWISE(special_bessel_y0_stub, bessel_y0_kernel, BesselY0Functor, "bessel_y0_cpu")
REGISTER_CPU_ELEMENTWISE(special_bessel_y1_stub, bessel_y1_kernel, BesselY1Functor, "bessel_y1_cpu")
REGISTER_CPU_ELEMENTWISE(special_modified_bessel_i0_stub, modified_bessel_i0_kernel, ModifiedBesselI0Functor,
                         "modified_bessel_i0_cpu")
REGISTER_CPU_ELEMENTWISE(special_modified_bessel_i1_stub, modified_bessel_i1_kernel, ModifiedBesselI1Functor,
                         "modified_bessel_i1_cpu")
REGISTER_CPU_ELEMENTWISE(special_modified_bessel_k0_stub, modified_bessel_k0_kernel, ModifiedBesselK0Functor,
                         "modified_bessel_k0_cpu")
REGISTER_CPU_ELEMENTWISE(special_modified_bessel_k1_stub, modified_bessel_k1_kernel, ModifiedBesselK1Functor,
                         "modified_bessel_k1_cpu")
REGISTER_CPU_ELEMENTWISE(special_scaled_modified_bessel_k0_stub, scaled_modified_bessel_k0_kernel,
                         ScaledModifiedBesselK0Functor, "scaled_modified_bessel_k0_cpu")
REGISTER_CPU_ELEMENTWISE(special_scaled_modified_bessel_k1_stub, scaled_modified_bessel_k1_kernel,
                         ScaledModifiedBesselK1Functor, "scaled_modified_bessel_k1_cpu")
REGISTER_CPU_ELEMENTWISE(special_spherical_bessel_j0_stub, spherical_bessel_j0_kernel, SphericalBesselJ0Functor,
                         "spherical_bessel_j0_cpu")

} // namespace reftorch::at::native
