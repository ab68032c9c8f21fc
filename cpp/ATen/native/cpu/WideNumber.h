// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (opmath_t b = iter.original_scalar_value)
//
// A number that is the second operand of 16-bit floats keeps its precision: 0.1 is not rounded to 16 bits before it is
// multiplied, and 1e5, which does not exist in float16, does not become infinity.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

// Computes out = op(a, b) in float and returns true, where b is one number and the dtype is a 16-bit float; otherwise
// it does nothing and returns false.
template <typename Op>
bool wide_number_kernel(TensorIterator& iter, const char* name, const Op& op) {
  if (!c10::isReducedFloatingType(iter.dtype()) || iter.input(1).numel() != 1) {
    return false;
  }
  const auto b = static_cast<float>(detail::number_in(iter.input(1)).toDouble());
  dispatch<ReducedFloatingTypes>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    cpu_kernel<scalar_t>(iter, [b, op](float a, float) -> float { return op(a, b); });
  });
  return true;
}

} // namespace reftorch::at::native
