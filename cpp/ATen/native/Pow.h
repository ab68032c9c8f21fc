// Mirrors: aten/src/ATen/native/Pow.h
//
// The stubs of powers, and the power of integers that the kernels of every device use.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>

#include <type_traits>

namespace reftorch::at::native {

// The power of integers by repeated squaring, modulo the range of T. A negative exponent gives 1 / base^n rounded
// toward zero: 1 or -1 if the base is 1 or -1, else 0.
template <typename T>
C10_HOST_DEVICE T powi(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    return base == 1 ? 1 : base == T(-1) ? (exponent % 2 != 0 ? -1 : 1) : 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base); // unsigned: overflow wraps
  for (uint64_t n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if (n & 1) {
      result *= square;
    }
    square *= square;
  }
  return static_cast<T>(result);
}

DECLARE_DISPATCH(void (*)(TensorIterator&), pow_tensor_tensor_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, const Scalar&), pow_tensor_scalar_stub)

} // namespace reftorch::at::native
