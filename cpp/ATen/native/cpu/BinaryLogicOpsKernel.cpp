// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Operations on truth values and on bits.
#include <ATen/native/BinaryLogicOpsFunctors.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

REGISTER_CPU_ELEMENTWISE(logical_and_stub, logical_and_kernel, LogicalAndFunctor, "logical_and_cpu")
REGISTER_CPU_ELEMENTWISE(logical_or_stub, logical_or_kernel, LogicalOrFunctor, "logical_or_cpu")
REGISTER_CPU_ELEMENTWISE(logical_xor_stub, logical_xor_kernel, LogicalXorFunctor, "logical_xor_cpu")
REGISTER_CPU_ELEMENTWISE(bitwise_and_stub, bitwise_and_kernel, BitwiseAndFunctor, "bitwise_and_cpu")
REGISTER_CPU_ELEMENTWISE(bitwise_or_stub, bitwise_or_kernel, BitwiseOrFunctor, "bitwise_or_cpu")
REGISTER_CPU_ELEMENTWISE(bitwise_xor_stub, bitwise_xor_kernel, BitwiseXorFunctor, "bitwise_xor_cpu")
REGISTER_CPU_ELEMENTWISE(lshift_stub, lshift_kernel, LeftShiftFunctor, "lshift_cpu")
REGISTER_CPU_ELEMENTWISE(rshift_stub, rshift_kernel, RightShiftFunctor, "rshift_cpu")

} // namespace reftorch::at::native
