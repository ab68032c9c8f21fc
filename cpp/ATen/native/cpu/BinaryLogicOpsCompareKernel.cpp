// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Comparisons of two numbers.
#include <ATen/native/BinaryLogicOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(eq_stub, eq_kernel, EqFunctor, "eq_cpu")
REGISTER_CPU_ELEMENTWISE(ne_stub, ne_kernel, NeFunctor, "ne_cpu")
REGISTER_CPU_ELEMENTWISE(lt_stub, lt_kernel, LtFunctor, "lt_cpu")
REGISTER_CPU_ELEMENTWISE(le_stub, le_kernel, LeFunctor, "le_cpu")
REGISTER_CPU_ELEMENTWISE(gt_stub, gt_kernel, GtFunctor, "gt_cpu")
REGISTER_CPU_ELEMENTWISE(ge_stub, ge_kernel, GeFunctor, "ge_cpu")

} // namespace reftorch::at::native
