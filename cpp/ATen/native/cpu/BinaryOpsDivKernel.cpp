// Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
//
// Division: the true quotient, the quotient rounded toward zero or rounded down, and the remainders of the two
// roundings.
#include <ATen/cpu/vec/VectorMathWide.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/BinaryOpsFunctors.h>
#include <ATen/native/cpu/TwoRungs.h>
#include <ATen/native/cpu/WideNumber.h>

#include <atomic>
#include <cmath>

namespace reftorch::at::native {
namespace {

void div_true_kernel(TensorIterator& iter) {
  if (!wide_number_kernel(iter, "div_cpu_reduced_float", DivTrueFunctor<float>())) {
    cpu_elementwise<DivTrueFunctor>(iter, "div_cpu");
  }
}

// The processor traps on a zero divisor. The loop therefore only notes the zero, and the error is raised after the
// loop: an exception cannot leave a function that GCC has cloned (TARGET_CLONES).
template <template <typename> class Functor>
void integer_division_kernel(TensorIterator& iter, const char* name) {
  std::atomic<bool> by_zero = false;
  dispatch<IntegralTypes>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    cpu_kernel(iter, [&by_zero](scalar_t a, scalar_t b) -> scalar_t {
      if (b == 0) {
        by_zero.store(true, std::memory_order_relaxed);
        return 0;
      }
      return Functor<scalar_t>()(a, b);
    });
  });
  TORCH_CHECK(!by_zero, "ZeroDivisionError");
}

// The quick rung is finish(a, b, fmod(a, b)) with a quick fmod, which is right for small quotients only.
template <template <typename> class Functor, typename Finish>
void floating_remainder_kernel(TensorIterator& iter, const char* name, const Finish& finish) {
  dispatch<FloatingTypesAndReduced>(iter.dtype(), name, [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = opmath_type<scalar_t>;
    two_rungs_kernel<scalar_t>(
        iter, [](opmath_t a, opmath_t b) { return has_small_quotient(a, b); },
        [finish](opmath_t a, opmath_t b) -> opmath_t { return finish(a, b, vec_fmod(a, b)); }, Functor<scalar_t>());
  });
}

bool is_integral(const TensorIterator& iter) {
  return c10::isIntegralType(iter.dtype(), /*includeBool=*/true);
}

void div_trunc_kernel(TensorIterator& iter) {
  if (is_integral(iter)) {
    integer_division_kernel<DivTruncFunctor>(iter, "div_trunc_cpu");
  } else if (!wide_number_kernel(iter, "div_trunc_cpu_reduced_float",
                                 [](float a, float b) { return std::trunc(a / b); })) {
    cpu_elementwise<DivTruncFunctor>(iter, "div_trunc_cpu");
  }
}

void div_floor_kernel(TensorIterator& iter) {
  if (is_integral(iter)) {
    integer_division_kernel<DivFloorFunctor>(iter, "div_floor_cpu");
  } else if (!wide_number_kernel(iter, "div_floor_cpu_reduced_float", DivFloorFunctor<float>())) {
    floating_remainder_kernel<DivFloorFunctor>(iter, "div_floor_cpu",
                                               [](auto a, auto b, auto mod) { return div_floor_floating(a, b, mod); });
  }
}

void remainder_kernel(TensorIterator& iter) {
  if (is_integral(iter)) {
    integer_division_kernel<RemainderFunctor>(iter, "remainder_cpu");
  } else {
    floating_remainder_kernel<RemainderFunctor>(iter, "remainder_cpu",
                                                [](auto, auto b, auto mod) { return signed_as_divisor(mod, b); });
  }
}

void fmod_kernel(TensorIterator& iter) {
  if (is_integral(iter)) {
    integer_division_kernel<FmodFunctor>(iter, "fmod_cpu");
  } else {
    floating_remainder_kernel<FmodFunctor>(iter, "fmod_cpu", [](auto, auto, auto mod) { return mod; });
  }
}

} // namespace

REGISTER_CPU_DISPATCH(div_true_stub, div_true_kernel)
REGISTER_CPU_DISPATCH(div_trunc_stub, div_trunc_kernel)
REGISTER_CPU_DISPATCH(div_floor_stub, div_floor_kernel)
REGISTER_CPU_DISPATCH(remainder_stub, remainder_kernel)
REGISTER_CPU_DISPATCH(fmod_stub, fmod_kernel)

} // namespace reftorch::at::native
