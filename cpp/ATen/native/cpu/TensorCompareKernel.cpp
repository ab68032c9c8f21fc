// Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp
#include <ATen/native/SharedReduceOps.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {
namespace {

// Elements are only moved, so only their width matters. The condition is read as bytes, because GCC does not vectorize
// loops over bool.
template <typename word_t>
void where_kernel_width(TensorIterator& iter) {
  cpu_kernel(iter, [](uint8_t condition, word_t self, word_t other) { return condition != 0 ? self : other; });
}

void where_kernel_impl(TensorIterator& iter) {
  switch (c10::elementSize(iter.dtype())) {
    case 1: return where_kernel_width<uint8_t>(iter);
    case 2: return where_kernel_width<uint16_t>(iter);
    case 4: return where_kernel_width<uint32_t>(iter);
    default: return where_kernel_width<uint64_t>(iter);
  }
}

// A missing bound becomes a value that no element exceeds.
void clamp_scalar_kernel(TensorIterator& iter, const std::optional<Scalar>& min_scalar,
                         const std::optional<Scalar>& max_scalar) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "clamp_scalar_kernel_impl", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t min = min_scalar.has_value() ? opmath_t(min_scalar->to<scalar_t>()) : lower_bound<opmath_t>();
    const opmath_t max = max_scalar.has_value() ? opmath_t(max_scalar->to<scalar_t>()) : upper_bound<opmath_t>();
    cpu_kernel<scalar_t>(iter, [min, max](opmath_t a) -> opmath_t { return clamp(a, min, max); });
  });
}

void clamp_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "clamp_kernel_impl", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter,
                         [](opmath_t a, opmath_t min, opmath_t max) -> opmath_t { return clamp_nan(a, min, max); });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(where_kernel, where_kernel_impl)
REGISTER_CPU_DISPATCH(clamp_scalar_stub, clamp_scalar_kernel)
REGISTER_CPU_DISPATCH(clamp_stub, clamp_kernel)

} // namespace reftorch::at::native
