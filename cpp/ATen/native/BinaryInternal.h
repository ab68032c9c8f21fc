// Mirrors: aten/src/ATen/native/cuda/BinaryInternal.h
//
// Division of two numbers, shared by the kernels of the CPU and of CUDA: the quotient rounded toward zero, the quotient
// rounded down, and the remainder of each. The divisor of an integer division must not be 0.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <type_traits>

namespace reftorch::at::native {

// -1 has a branch of its own: the processor traps where the smallest integer is divided by -1, because the quotient
// does not fit into the type.
template <typename T>
C10_HOST_DEVICE T div_trunc_integer(T a, T b) {
  if (std::is_signed_v<T> && b == T(-1)) {
    return T(0) - static_cast<std::make_unsigned_t<T>>(a);
  }
  return a / b;
}

template <typename T>
C10_HOST_DEVICE T div_floor_integer(T a, T b) {
  const T quotient = div_trunc_integer(a, b);
  if (b == T(-1)) {
    return quotient; // the quotient is exact, and its product with b may not fit
  }
  // combined as ints, without a branch to mispredict
  const int inexact = T(quotient * b) != a, below_zero = (a < 0) != (b < 0);
  return static_cast<T>(quotient - (inexact & below_zero));
}

template <typename T>
C10_HOST_DEVICE T fmod_integer(T a, T b) {
  return std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
}

// Python's floor division. `mod` is fmod(a, b). The code divides a - mod, a multiple of b, because a / b may round up
// to a whole number.
template <typename T>
C10_HOST_DEVICE T div_floor_floating(T a, T b, T mod) {
  const T exact = (a - mod) / b, div = (mod != 0) & ((b < 0) != (mod < 0)) ? exact - T(1) : exact;
  const T floordiv = std::floor(div), nearest = div - floordiv > T(0.5) ? floordiv + T(1) : floordiv;
  return b == 0 ? a / b : div == 0 ? std::copysign(T(0), a / b) : nearest;
}

// The remainder has the sign of the divisor, as in Python.
template <typename T>
C10_HOST_DEVICE T remainder_integer(T a, T b) {
  const T r = fmod_integer(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? T(r + b) : r;
}
template <typename T>
C10_HOST_DEVICE T signed_as_divisor(T mod, T b) {
  return (mod != 0) & ((b < 0) != (mod < 0)) ? mod + b : mod;
}

} // namespace reftorch::at::native
