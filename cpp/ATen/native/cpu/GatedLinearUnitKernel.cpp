// Mirrors: aten/src/ATen/native/cpu/Activation.cpp (glu_kernel, glu_backward_kernel)
#include <ATen/native/ActivationFunctors.h>
#include <ATen/native/GatedLinearUnit.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(glu_stub, glu_kernel, GluFunctor, "glu_cpu")
REGISTER_CPU_ELEMENTWISE(glu_backward_stub, glu_backward_kernel, GluBackwardFunctor, "glu_backward_cpu")

} // namespace reftorch::at::native
