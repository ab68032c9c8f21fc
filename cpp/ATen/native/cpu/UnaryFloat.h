// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (IMPLEMENT_ITERATOR_LAMBDA)
//
// What the kernels of functions of one or two real numbers have in common.
#pragma once

#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

// out = op(a), computed in float for the 16-bit floats; `op` takes float and double.
template <typename Op>
void unary_float_kernel(TensorIterator& iter, const char* name, const Op& op) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [op](opmath_t a) -> opmath_t { return op(a); });
  });
}

// out = op(a, b), computed as above.
template <typename Op>
void binary_float_kernel(TensorIterator& iter, const char* name, const Op& op) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [op](opmath_t a, opmath_t b) -> opmath_t { return op(a, b); });
  });
}

} // namespace reftorch::at::native
