// Mirrors: aten/src/ATen/Dispatch.h, aten/src/ATen/OpMathType.h
//
// Converts a dtype that is known at run time to a C++ type: dispatch<Types>(dtype, name, body) calls `body` with a
// value whose type carries the C++ type. `Types` is the set of dtypes that the op accepts. For any other dtype,
// dispatch raises NotImplementedError with the names of the op and the dtype.
//
//   dispatch<FloatingTypes>(self.scalar_type(), "twice_cpu", [&](auto type) {
//     using scalar_t = typename decltype(type)::type; // float or double
//     ...
//   });
//
// The macros AT_DISPATCH_... at the end of this file are PyTorch's way to write the same call. They are here for the
// sources of extensions; see Note [A body is no argument of a macro].
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <type_traits>

namespace reftorch::at {

// A set of C++ element types.
template <typename... Types>
struct TypeSet {
  template <typename T>
  static constexpr bool contains = (false || ... || std::is_same_v<T, Types>);
  // The set with further types.
  template <typename... More>
  using And = TypeSet<Types..., More...>;
};

using FloatingTypes = TypeSet<double, float>;
using ReducedFloatingTypes = TypeSet<c10::Half, c10::BFloat16>;
using FloatingTypesAndReduced = FloatingTypes::And<c10::Half, c10::BFloat16>;
using IntegralTypes = TypeSet<uint8_t, int8_t, int16_t, int32_t, int64_t>; // without bool
using IntegralTypesAndBool = IntegralTypes::And<bool>;
using AllNumbers = FloatingTypesAndReduced::And<uint8_t, int8_t, int16_t, int32_t, int64_t>; // every dtype but bool
using AllTypesAndBool = AllNumbers::And<bool>;

// The argument that dispatch gives to a body: its type carries T, its value carries nothing.
template <typename T>
struct TypeIdentity {
  using type = T;
};

[[noreturn]] inline void dtype_not_implemented(const char* name, c10::ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, '"', name, "\" not implemented for '", toString(dtype), "'");
}

// Note [A body is no argument of a macro]
//
// Problem: PyTorch writes a kernel's body as the argument of a macro, AT_DISPATCH_ALL_TYPES(dtype, name, [&] {...}).
// The compiler gives each line of a macro's argument the line number of the macro itself. So a debugger has one line
// for the whole body: a breakpoint on the arithmetic moves to the line behind the body, where the work is done already,
// and one step executes everything. Trick: dispatch is a function, and the body is a generic lambda, which C++ compiles
// once for each type that it is called with. Every line of the body then has an address of its own. The body learns the
// type from its parameter: `using scalar_t = typename decltype(type)::type`. Limits: a breakpoint on a line of a body
// has as many locations as there are dtypes, and stops at the one that runs.
template <typename Types, typename Body>
auto dispatch(c10::ScalarType dtype, const char* name, const Body& body) {
  switch (dtype) {
#define DISPATCH_CASE(cpp_type, dtype_name, number)     \
  case c10::ScalarType::dtype_name:                     \
    if constexpr (Types::template contains<cpp_type>) { \
      return body(TypeIdentity<cpp_type>());            \
    } else {                                            \
      break;                                            \
    }
    AT_FORALL_SCALAR_TYPES_WITH_NAMES(DISPATCH_CASE)
#undef DISPATCH_CASE
    default: break;
  }
  dtype_not_implemented(name, dtype);
}

// The type in which kernels compute: float for the 16-bit floats, otherwise T itself.
template <typename T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <typename T>
using opmath_type = typename OpMathType<T>::type;

// The type in which kernels sum: int64_t for integers and float for the 16-bit floats, so that long sums stay exact or
// precise.
template <typename T>
using acc_type =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

} // namespace reftorch::at

// PyTorch's macros, for the sources of extensions: they call a lambda without parameters, with `scalar_t` defined.
#define AT_DISPATCH_CASE_TYPE(enum_name, ...)                                                                     \
  case ::reftorch::c10::ScalarType::enum_name: {                                                                  \
    using scalar_t = typename ::reftorch::c10::ScalarTypeToCPPType<::reftorch::c10::ScalarType::enum_name>::type; \
    return __VA_ARGS__();                                                                                         \
  }

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                        \
  [&] {                                                                                                            \
    const ::reftorch::c10::ScalarType the_type = TYPE;                                                             \
    switch (the_type) {                                                                                            \
      __VA_ARGS__                                                                                                  \
      default: TORCH_CHECK_NOT_IMPLEMENTED(false, '"', NAME, "\" not implemented for '", toString(the_type), "'"); \
    }                                                                                                              \
  }()

#define AT_DISPATCH_CASE_FLOATING(...) \
  AT_DISPATCH_CASE_TYPE(Double, __VA_ARGS__) AT_DISPATCH_CASE_TYPE(Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING(...) \
  AT_DISPATCH_CASE_TYPE(Half, __VA_ARGS__) AT_DISPATCH_CASE_TYPE(BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL(...)      \
  AT_DISPATCH_CASE_TYPE(Byte, __VA_ARGS__)  \
  AT_DISPATCH_CASE_TYPE(Char, __VA_ARGS__)  \
  AT_DISPATCH_CASE_TYPE(Short, __VA_ARGS__) \
  AT_DISPATCH_CASE_TYPE(Int, __VA_ARGS__)   \
  AT_DISPATCH_CASE_TYPE(Long, __VA_ARGS__)

// float, double
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING(__VA_ARGS__))
// float, double, half, bfloat16
#define AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE_REDUCED_FLOATING(__VA_ARGS__))
// the integer types without bool
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND_BOOL(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL(__VA_ARGS__) AT_DISPATCH_CASE_TYPE(Bool, __VA_ARGS__))
// every numeric dtype: float, reduced float and integer types
#define AT_DISPATCH_ALL_NUMBERS(TYPE, NAME, ...)                                                           \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                           \
                     AT_DISPATCH_CASE_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE_REDUCED_FLOATING(__VA_ARGS__) \
                         AT_DISPATCH_CASE_INTEGRAL(__VA_ARGS__))
// every dtype: the numeric dtypes and bool
#define AT_DISPATCH_ALL_TYPES_AND_BOOL(TYPE, NAME, ...)                                                    \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                           \
                     AT_DISPATCH_CASE_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE_REDUCED_FLOATING(__VA_ARGS__) \
                         AT_DISPATCH_CASE_INTEGRAL(__VA_ARGS__) AT_DISPATCH_CASE_TYPE(Bool, __VA_ARGS__))
