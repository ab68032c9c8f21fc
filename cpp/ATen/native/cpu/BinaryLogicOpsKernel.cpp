// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
// Truth values and bits.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

void logical_and_kernel(TensorIterator& iter) {
  cpu_kernel(iter, [](bool a, bool b) -> bool { return a & b; });
}
void logical_or_kernel(TensorIterator& iter) {
  cpu_kernel(iter, [](bool a, bool b) -> bool { return a | b; });
}
void logical_xor_kernel(TensorIterator& iter) {
  cpu_kernel(iter, [](bool a, bool b) -> bool { return a != b; });
}

void bitwise_and_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_and_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return a & b; });
  });
}
void bitwise_or_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_or_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return a | b; });
  });
}
void bitwise_xor_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(iter.dtype(), "bitwise_xor_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { return a ^ b; });
  });
}

} // namespace

REGISTER_DISPATCH(logical_and_stub, logical_and_kernel)
REGISTER_DISPATCH(logical_or_stub, logical_or_kernel)
REGISTER_DISPATCH(logical_xor_stub, logical_xor_kernel)
REGISTER_DISPATCH(bitwise_and_stub, bitwise_and_kernel)
REGISTER_DISPATCH(bitwise_or_stub, bitwise_or_kernel)
REGISTER_DISPATCH(bitwise_xor_stub, bitwise_xor_kernel)

} // namespace reftorch::at::native
