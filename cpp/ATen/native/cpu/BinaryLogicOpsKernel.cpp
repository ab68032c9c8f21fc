// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Operations on truth values and on bits.
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/Loops.h>

#include <limits>

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

// A shift by the width of the type or more, or by a negative number, moves every bit out. A left shift then gives 0; a
// right shift gives 0 for a number that is not negative, and -1 for a negative one.
void lshift_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "lshift_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      constexpr int bits = std::numeric_limits<std::make_unsigned_t<scalar_t>>::digits;
      return b < 0 || b >= bits ? 0 : static_cast<scalar_t>(static_cast<std::make_unsigned_t<scalar_t>>(a) << b);
    });
  });
}
void rshift_kernel(TensorIterator& iter) {
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "rshift_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      constexpr int digits = std::numeric_limits<scalar_t>::digits; // `digits` does not count the sign bit
      return b < 0 || b >= digits ? static_cast<scalar_t>(a < 0 ? -1 : 0) : static_cast<scalar_t>(a >> b);
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(lshift_stub, lshift_kernel)
REGISTER_CPU_DISPATCH(rshift_stub, rshift_kernel)
REGISTER_CPU_DISPATCH(logical_and_stub, logical_and_kernel)
REGISTER_CPU_DISPATCH(logical_or_stub, logical_or_kernel)
REGISTER_CPU_DISPATCH(logical_xor_stub, logical_xor_kernel)
REGISTER_CPU_DISPATCH(bitwise_and_stub, bitwise_and_kernel)
REGISTER_CPU_DISPATCH(bitwise_or_stub, bitwise_or_kernel)
REGISTER_CPU_DISPATCH(bitwise_xor_stub, bitwise_xor_kernel)

} // namespace reftorch::at::native
