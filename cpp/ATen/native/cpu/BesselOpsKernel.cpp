// Mirrors: aten/src/ATen/native/cpu/airy_ai.cpp, aten/src/ATen/native/cpu/scaled_modified_bessel_k0.cpp, aten/src/ATen/native/cpu/scaled_modified_bessel_k1.cpp, aten/src/ATen/native/cpu/spherical_bessel_j0.cpp, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (bessel_j0_kernel, ...)
//
// The formulas are in native/MathBesselSecond.h and MathBessel.h and are computed in double for both dtypes.
#include <ATen/native/BesselOps.h>
#include <ATen/native/MathBesselSecond.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// Only for float and double, as in PyTorch.
template <double (*f)(double)>
void bessel_kernel(TensorIterator& iter, const char* name) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), name,
                             [&] { cpu_kernel(iter, [](scalar_t a) { return static_cast<scalar_t>(f(a)); }); });
}

void airy_ai_kernel(TensorIterator& iter) {
  bessel_kernel<calc_airy_ai>(iter, "airy_ai_cpu");
}
void bessel_j0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_bessel_j0>(iter, "bessel_j0_cpu");
}
void bessel_j1_kernel(TensorIterator& iter) {
  bessel_kernel<calc_bessel_j1>(iter, "bessel_j1_cpu");
}
void bessel_y0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_bessel_y0>(iter, "bessel_y0_cpu");
}
void bessel_y1_kernel(TensorIterator& iter) {
  bessel_kernel<calc_bessel_y1>(iter, "bessel_y1_cpu");
}
void modified_bessel_i0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_i0>(iter, "modified_bessel_i0_cpu");
}
void modified_bessel_i1_kernel(TensorIterator& iter) {
  bessel_kernel<calc_i1>(iter, "modified_bessel_i1_cpu");
}
void modified_bessel_k0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_modified_bessel_k0>(iter, "modified_bessel_k0_cpu");
}
void modified_bessel_k1_kernel(TensorIterator& iter) {
  bessel_kernel<calc_modified_bessel_k1>(iter, "modified_bessel_k1_cpu");
}
void scaled_modified_bessel_k0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_scaled_modified_bessel_k0>(iter, "scaled_modified_bessel_k0_cpu");
}
void scaled_modified_bessel_k1_kernel(TensorIterator& iter) {
  bessel_kernel<calc_scaled_modified_bessel_k1>(iter, "scaled_modified_bessel_k1_cpu");
}
void spherical_bessel_j0_kernel(TensorIterator& iter) {
  bessel_kernel<calc_spherical_bessel_j0>(iter, "spherical_bessel_j0_cpu");
}

} // namespace

REGISTER_CPU_DISPATCH(special_airy_ai_stub, airy_ai_kernel)
REGISTER_CPU_DISPATCH(special_bessel_j0_stub, bessel_j0_kernel)
REGISTER_CPU_DISPATCH(special_bessel_j1_stub, bessel_j1_kernel)
REGISTER_CPU_DISPATCH(special_bessel_y0_stub, bessel_y0_kernel)
REGISTER_CPU_DISPATCH(special_bessel_y1_stub, bessel_y1_kernel)
REGISTER_CPU_DISPATCH(special_modified_bessel_i0_stub, modified_bessel_i0_kernel)
REGISTER_CPU_DISPATCH(special_modified_bessel_i1_stub, modified_bessel_i1_kernel)
REGISTER_CPU_DISPATCH(special_modified_bessel_k0_stub, modified_bessel_k0_kernel)
REGISTER_CPU_DISPATCH(special_modified_bessel_k1_stub, modified_bessel_k1_kernel)
REGISTER_CPU_DISPATCH(special_scaled_modified_bessel_k0_stub, scaled_modified_bessel_k0_kernel)
REGISTER_CPU_DISPATCH(special_scaled_modified_bessel_k1_stub, scaled_modified_bessel_k1_kernel)
REGISTER_CPU_DISPATCH(special_spherical_bessel_j0_stub, spherical_bessel_j0_kernel)

} // namespace reftorch::at::native
