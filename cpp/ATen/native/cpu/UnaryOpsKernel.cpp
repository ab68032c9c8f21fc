// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
// Functions that stay in the dtype they are given; those of real numbers are in UnaryFloatOpsKernel.cpp.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>

namespace reftorch::at::native {
namespace {

void neg_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "neg_cpu",
                          [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return -opmath_type<scalar_t>(a); }); });
}

void abs_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "abs_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t {
      if constexpr (std::is_unsigned_v<scalar_t>) {
        return a;
      } else {
        return std::abs(opmath_type<scalar_t>(a));
      }
    });
  });
}

// -1, 0 or 1; NaN gives 0.
void sign_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "sign_cpu", [&] {
    cpu_kernel(iter, [](scalar_t value) -> scalar_t {
      const opmath_type<scalar_t> a = value, zero = 0;
      return opmath_type<scalar_t>((zero < a) - (a < zero));
    });
  });
}

void bitwise_not_kernel(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    cpu_kernel(iter, [](bool a) -> bool { return !a; });
    return;
  }
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "bitwise_not_cpu",
                             [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return ~a; }); });
}

void logical_not_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), "logical_not_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> bool { return opmath_type<scalar_t>(a) == 0; });
  });
}

void floor_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "floor_vml_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return std::floor(opmath_type<scalar_t>(a)); });
  });
}

void ceil_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "ceil_vml_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return std::ceil(opmath_type<scalar_t>(a)); });
  });
}

// Halves go to the even neighbour.
void round_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "round_vml_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return std::nearbyint(opmath_type<scalar_t>(a)); });
  });
}

void trunc_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "trunc_vml_cpu", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return std::trunc(opmath_type<scalar_t>(a)); });
  });
}

} // namespace

REGISTER_DISPATCH(neg_stub, neg_kernel)
REGISTER_DISPATCH(abs_stub, abs_kernel)
REGISTER_DISPATCH(sign_stub, sign_kernel)
REGISTER_DISPATCH(bitwise_not_stub, bitwise_not_kernel)
REGISTER_DISPATCH(logical_not_stub, logical_not_kernel)
REGISTER_DISPATCH(floor_stub, floor_kernel)
REGISTER_DISPATCH(ceil_stub, ceil_kernel)
REGISTER_DISPATCH(round_stub, round_kernel)
REGISTER_DISPATCH(trunc_stub, trunc_kernel)

} // namespace reftorch::at::native
