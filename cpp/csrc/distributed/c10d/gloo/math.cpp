// Mirrors: torch/csrc/distributed/c10d/ProcessGroupGloo.cpp (getFunction, toFunction); gloo/math.h of the library Gloo
#include <csrc/distributed/c10d/gloo/math.h>

#include <ATen/Dispatch.h>

#include <functional>
#include <type_traits>

namespace reftorch::c10d::gloo {

using at::AllTypesAndBool;

void check_reduction(ReduceOp op, c10::ScalarType dtype) {
  const bool is_float = c10::isFloatingType(dtype);
  TORCH_CHECK(op < ReduceOp::BAND || !is_float, "Cannot use ReduceOp.", toString(op), " with non-integral dtype");
  TORCH_CHECK(op != ReduceOp::AVG || is_float, "result type Float can't be cast to the desired output type ",
              c10::toString(dtype), ". Hint: ReduceOp.AVG divides, so it needs floats; use ReduceOp.SUM");
}

// Computes in float for the 16-bit floats, in T otherwise; integers wrap around.
template <typename T, typename Op>
static void loop(T* into, const T* from, int64_t numel, const Op& op) {
  using opmath_t = at::opmath_type<T>;
  for (int64_t i = 0; i < numel; i++) {
    into[i] = static_cast<T>(op(static_cast<opmath_t>(into[i]), static_cast<opmath_t>(from[i])));
  }
}

// The sum of bools is whether one is true, and their product whether all are. Signed integers are added and multiplied
// as unsigned ones, because C++ leaves their overflow undefined.
template <typename T>
static T sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename T>
static T product(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

void reduce(ReduceOp op, c10::ScalarType dtype, void* into_data, const void* from_data, int64_t numel) {
  at::dispatch<AllTypesAndBool>(dtype, "reduce", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = at::opmath_type<scalar_t>;
    auto* const into = static_cast<scalar_t*>(into_data);
    const auto* const from = static_cast<const scalar_t*>(from_data);
    switch (op) {
      case ReduceOp::AVG:
      case ReduceOp::SUM: loop(into, from, numel, [](opmath_t a, opmath_t b) { return sum(a, b); }); return;
      case ReduceOp::PRODUCT: loop(into, from, numel, [](opmath_t a, opmath_t b) { return product(a, b); }); return;
      case ReduceOp::MIN: loop(into, from, numel, [](opmath_t a, opmath_t b) { return b < a ? b : a; }); return;
      case ReduceOp::MAX: loop(into, from, numel, [](opmath_t a, opmath_t b) { return a < b ? b : a; }); return;
      default: break;
    }
    if constexpr (std::is_integral_v<scalar_t>) {
      switch (op) {
        case ReduceOp::BAND: loop(into, from, numel, std::bit_and<>()); return;
        case ReduceOp::BOR: loop(into, from, numel, std::bit_or<>()); return;
        default: loop(into, from, numel, std::bit_xor<>()); return;
      }
    }
  });
}

void divide(c10::ScalarType dtype, void* data, int64_t numel, int divisor) {
  at::dispatch<at::AllNumbers>(dtype, "divide", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using opmath_t = at::opmath_type<scalar_t>;
    auto* const numbers = static_cast<scalar_t*>(data);
    for (int64_t i = 0; i < numel; i++) {
      numbers[i] = static_cast<scalar_t>(static_cast<opmath_t>(numbers[i]) / static_cast<opmath_t>(divisor));
    }
  });
}

} // namespace reftorch::c10d::gloo
