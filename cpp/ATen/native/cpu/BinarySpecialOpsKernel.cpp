// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Special functions of two numbers.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinarySpecialOpsFunctors.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(igamma_stub, igamma_kernel, IgammaFunctor, "igamma")
REGISTER_CPU_ELEMENTWISE(igammac_stub, igammac_kernel, IgammacFunctor, "igammac")
REGISTER_CPU_ELEMENTWISE(special_zeta_stub, zeta_kernel, ZetaFunctor, "zeta")
REGISTER_CPU_ELEMENTWISE(special_xlog1py_stub, xlog1py_kernel, Xlog1pyFunctor, "xlog1py_cpu")

} // namespace reftorch::at::native
