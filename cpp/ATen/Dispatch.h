// Mirrors: aten/src/ATen/Dispatch.h, aten/src/ATen/OpMathType.h
//
// Converts a dtype that is known at run time to a C++ type: each macro calls the lambda with `scalar_t` defined. The
// macro's name says which dtypes it accepts. For any other dtype, the macro raises NotImplementedError with the names
// of the op and the dtype.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

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

namespace reftorch::at {

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
