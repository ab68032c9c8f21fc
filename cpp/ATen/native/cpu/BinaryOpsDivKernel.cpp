// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Division: the true quotient, the quotient rounded toward zero or rounded down, and the remainders of the two
// roundings.
#include <ATen/native/BinaryInternal.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/cpu/TwoRungs.h>
#include <ATen/native/cpu/VectorMathWide.h>
#include <ATen/native/cpu/WideNumber.h>

#include <atomic>
#include <cmath>

namespace reftorch::at::native {
namespace {

void div_true_kernel(TensorIterator& iter) {
  if (wide_number_kernel(iter, "div_cpu_reduced_float", [](float a, float b) { return a / b; })) {
    return;
  }
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "div_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t { return a / b; });
  });
}

// The processor traps on a zero divisor. The loop therefore only notes the zero, and the error is raised after the
// loop: an exception cannot leave a function that GCC has cloned (TARGET_CLONES).
template <typename Op>
void integer_division_kernel(TensorIterator& iter, const char* name, const Op& op) {
  std::atomic<bool> by_zero = false;
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), name, [&] {
    cpu_kernel(iter, [op, &by_zero](scalar_t a, scalar_t b) -> scalar_t {
      if (b == 0) {
        by_zero.store(true, std::memory_order_relaxed);
        return 0;
      }
      return op(a, b);
    });
  });
  TORCH_CHECK(!by_zero, "ZeroDivisionError");
}

// out = finish(a, b, fmod(a, b)); the 16-bit floats are computed in float.
template <typename Finish>
void floating_remainder_kernel(TensorIterator& iter, const char* name, const Finish& finish) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), name, [&] {
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a, opmath_t b) { return has_small_quotient(a, b); },
        [finish](opmath_t a, opmath_t b) -> opmath_t { return finish(a, b, vec_fmod(a, b)); },
        [finish](opmath_t a, opmath_t b) -> opmath_t { return finish(a, b, std::fmod(a, b)); });
  });
}

void div_trunc_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    integer_division_kernel(iter, "div_trunc_cpu", [](auto a, auto b) { return div_trunc_integer(a, b); });
    return;
  }
  if (wide_number_kernel(iter, "div_trunc_cpu_reduced_float", [](float a, float b) { return std::trunc(a / b); })) {
    return;
  }
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "div_trunc_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a, opmath_t b) -> opmath_t {
      const scalar_t quotient = a / b; // rounded to 16 bits first, as PyTorch does: 17.98 becomes 18
      return std::trunc(opmath_t(quotient));
    });
  });
}

void div_floor_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    integer_division_kernel(iter, "div_floor_cpu", [](auto a, auto b) { return div_floor_integer(a, b); });
    return;
  }
  if (wide_number_kernel(iter, "div_floor_cpu_reduced_float",
                         [](float a, float b) { return div_floor_floating(a, b, std::fmod(a, b)); })) {
    return;
  }
  floating_remainder_kernel(iter, "div_floor_cpu",
                            [](auto a, auto b, auto mod) { return div_floor_floating(a, b, mod); });
}

// The remainder has the sign of the divisor, as in Python.
void remainder_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    integer_division_kernel(iter, "remainder_cpu", [](auto a, auto b) { return remainder_integer(a, b); });
    return;
  }
  floating_remainder_kernel(iter, "remainder_cpu", [](auto, auto b, auto mod) { return signed_as_divisor(mod, b); });
}

// The remainder has the sign of the dividend, as in C.
void fmod_kernel(TensorIterator& iter) {
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/true)) {
    integer_division_kernel(iter, "fmod_cpu", [](auto a, auto b) { return fmod_integer(a, b); });
    return;
  }
  floating_remainder_kernel(iter, "fmod_cpu", [](auto, auto, auto mod) { return mod; });
}

} // namespace

REGISTER_CPU_DISPATCH(div_true_stub, div_true_kernel)
REGISTER_CPU_DISPATCH(div_trunc_stub, div_trunc_kernel)
REGISTER_CPU_DISPATCH(div_floor_stub, div_floor_kernel)
REGISTER_CPU_DISPATCH(remainder_stub, remainder_kernel)
REGISTER_CPU_DISPATCH(fmod_stub, fmod_kernel)

} // namespace reftorch::at::native
