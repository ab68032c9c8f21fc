// Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp
//
// Functions whose result has the dtype of the argument; functions of real numbers are in UnaryOpsFloatKernel.cpp.
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/Loops.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace reftorch::at::native {
namespace {

// Whether T is a 16-bit float. The sign of such a float is one bit, which can change without a conversion to float.
template <typename T>
constexpr bool is_reduced = !std::is_same_v<T, opmath_type<T>>;

template <typename T>
T negative(T a) {
  if constexpr (is_reduced<T>) {
    return T(a.x ^ 0x8000, T::from_bits());
  } else {
    return -a;
  }
}

template <typename T>
T magnitude(T a) {
  if constexpr (is_reduced<T>) {
    return T(a.x & 0x7fff, T::from_bits());
  } else if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else {
    return std::abs(a);
  }
}

void neg_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "neg_cpu",
                          [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return negative(a); }); });
}

void abs_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_NUMBERS(iter.dtype(), "abs_cpu",
                          [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return magnitude(a); }); });
}

// The result is -1, 0 or 1; NaN gives 0.
void sign_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.dtype(), "sign_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return (opmath_t(0) < a) - (a < opmath_t(0)); });
  });
}

void bitwise_not_kernel(TensorIterator& iter) {
  if (iter.dtype() == kBool) {
    // as bytes, because GCC does not vectorize loops over bool
    cpu_kernel(iter, [](uint8_t a) -> uint8_t { return a ^ 1; });
    return;
  }
  AT_DISPATCH_INTEGRAL_TYPES(iter.dtype(), "bitwise_not_cpu",
                             [&] { cpu_kernel(iter, [](scalar_t a) -> scalar_t { return ~a; }); });
}

void logical_not_kernel(TensorIterator& iter) {
  if (iter.input_dtype() == kBool) {
    return bitwise_not_kernel(iter);
  }
  AT_DISPATCH_ALL_NUMBERS(iter.input_dtype(), "logical_not_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> bool { return a == 0; });
  });
}

void floor_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "floor_vml_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::floor(a); });
  });
}

void ceil_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "ceil_vml_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::ceil(a); });
  });
}

// A number halfway between two integers is rounded to the even one.
void round_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "round_vml_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::nearbyint(a); });
  });
}

void trunc_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "trunc_vml_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return std::trunc(a); });
  });
}

void frac_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "frac_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel<scalar_t>(iter, [](opmath_t a) -> opmath_t { return a - std::trunc(a); });
  });
}

void round_decimals_kernel(TensorIterator& iter, int64_t decimals) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "round_cpu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto shift = static_cast<opmath_t>(std::pow(10., std::abs(static_cast<double>(decimals))));
    if (decimals < 0) {
      cpu_kernel<scalar_t>(iter, [shift](opmath_t a) -> opmath_t { return std::nearbyint(a / shift) * shift; });
    } else {
      cpu_kernel<scalar_t>(iter, [shift](opmath_t a) -> opmath_t { return std::nearbyint(a * shift) / shift; });
    }
  });
}

// Reads the sign bit itself, which zeros and NaN have as well.
template <typename scalar_t>
bool has_sign(scalar_t a) {
  if constexpr (std::is_unsigned_v<scalar_t>) {
    return false;
  } else {
    uint8_t bytes[sizeof(a)];
    std::memcpy(bytes, &a, sizeof(a));
    return (bytes[sizeof(a) - 1] & 0x80) != 0; // little endian
  }
}

void signbit_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_BOOL(iter.input_dtype(), "signbit_cpu",
                                 [&] { cpu_kernel(iter, [](scalar_t a) -> bool { return has_sign(a); }); });
}

void nan_to_num_kernel(TensorIterator& iter, std::optional<double> nan, std::optional<double> posinf,
                       std::optional<double> neginf) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "nan_to_num", [&] {
    using opmath_t = opmath_type<scalar_t>;
    using limits = std::numeric_limits<scalar_t>;
    const auto for_nan = static_cast<opmath_t>(nan.value_or(0));
    const opmath_t for_posinf = posinf.has_value() ? static_cast<opmath_t>(*posinf) : opmath_t(limits::max());
    const opmath_t for_neginf = neginf.has_value() ? static_cast<opmath_t>(*neginf) : opmath_t(limits::lowest());
    constexpr opmath_t inf = std::numeric_limits<opmath_t>::infinity();
    cpu_kernel<scalar_t>(iter, [=](opmath_t a) -> opmath_t {
      return a != a ? for_nan : a == inf ? for_posinf : a == -inf ? for_neginf : a;
    });
  });
}

// frexp has a loop of its own, because it has two outputs and the op of cpu_kernel has one.
void frexp_kernel(TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "frexp_cpu", [&] {
    iter.for_each([](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      for (int64_t j = 0; j < size1; j++) {
        for (int64_t i = 0; i < size0; i++) {
          auto at = [&](int k) { return data[k] + j * strides[3 + k] + i * strides[k]; };
          const opmath_type<scalar_t> a = *reinterpret_cast<scalar_t*>(at(2));
          *reinterpret_cast<scalar_t*>(at(0)) = std::frexp(a, reinterpret_cast<int32_t*>(at(1)));
        }
      }
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(neg_stub, neg_kernel)
REGISTER_CPU_DISPATCH(abs_stub, abs_kernel)
REGISTER_CPU_DISPATCH(sign_stub, sign_kernel)
REGISTER_CPU_DISPATCH(bitwise_not_stub, bitwise_not_kernel)
REGISTER_CPU_DISPATCH(logical_not_stub, logical_not_kernel)
REGISTER_CPU_DISPATCH(floor_stub, floor_kernel)
REGISTER_CPU_DISPATCH(ceil_stub, ceil_kernel)
REGISTER_CPU_DISPATCH(round_stub, round_kernel)
REGISTER_CPU_DISPATCH(trunc_stub, trunc_kernel)
REGISTER_CPU_DISPATCH(frac_stub, frac_kernel)
REGISTER_CPU_DISPATCH(round_decimals_stub, round_decimals_kernel)
REGISTER_CPU_DISPATCH(signbit_stub, signbit_kernel)
REGISTER_CPU_DISPATCH(nan_to_num_stub, nan_to_num_kernel)
REGISTER_CPU_DISPATCH(frexp_stub, frexp_kernel)

} // namespace reftorch::at::native
