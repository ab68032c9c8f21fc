// Mirrors: c10/core/ScalarType.h
//
// The element types, with PyTorch's numbers, which never change because serialized files contain them. Left out:
// complex, quantized, float8 and bit types, and the unsigned integers of 16, 32 and 64 bits. UInt64 exists only as the
// type of a Python integer that is larger than the largest int64.
#pragma once

#include <c10/macros/Export.h>

#include <c10/util/ArrayRef.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <ostream>
#include <type_traits>

namespace reftorch::c10 {

// The arguments of _ are the C++ type, the name, and PyTorch's number of the type.
#define AT_FORALL_SCALAR_TYPES_WITH_NAMES(_) \
  _(uint8_t, Byte, 0)                        \
  _(int8_t, Char, 1)                         \
  _(int16_t, Short, 2)                       \
  _(int32_t, Int, 3)                         \
  _(int64_t, Long, 4)                        \
  _(::reftorch::c10::Half, Half, 5)          \
  _(float, Float, 6)                         \
  _(double, Double, 7)                       \
  _(bool, Bool, 11)                          \
  _(::reftorch::c10::BFloat16, BFloat16, 15)

enum class ScalarType : int8_t {
#define DEFINE_ENUM(cpp_type, name, number) name = number,
  AT_FORALL_SCALAR_TYPES_WITH_NAMES(DEFINE_ENUM)
#undef DEFINE_ENUM
      Undefined = 16,
  // The type of wrapped numbers only: result_type never gives it to a tensor.
  UInt64 = 27,
};
constexpr int kNumScalarTypes = 17;

#define DEFINE_CONSTANT(cpp_type, name, number) constexpr ScalarType k##name = ScalarType::name;
AT_FORALL_SCALAR_TYPES_WITH_NAMES(DEFINE_CONSTANT)
#undef DEFINE_CONSTANT
constexpr ScalarType kUInt64 = ScalarType::UInt64;

template <typename T>
struct CppTypeToScalarType;
template <ScalarType N>
struct ScalarTypeToCPPType;
#define DEFINE_MAPS(cpp_type, name, number)                                                       \
  template <>                                                                                     \
  struct CppTypeToScalarType<cpp_type> : std::integral_constant<ScalarType, ScalarType::name> {}; \
  template <>                                                                                     \
  struct ScalarTypeToCPPType<ScalarType::name> {                                                  \
    using type = cpp_type;                                                                        \
  };
AT_FORALL_SCALAR_TYPES_WITH_NAMES(DEFINE_MAPS)
#undef DEFINE_MAPS

C10_API const char* toString(ScalarType t);  // "Float"
C10_API const char* dtypeName(ScalarType t); // "float32", as Python names it

C10_API size_t reportUndefinedElementSize();

// Returns the bytes of an element. The function is inline because every allocation and every stride calls it.
inline size_t elementSize(ScalarType t) {
  switch (t) {
#define CASE(cpp_type, name, number) \
  case ScalarType::name: return sizeof(cpp_type);
    AT_FORALL_SCALAR_TYPES_WITH_NAMES(CASE)
#undef CASE
    case ScalarType::UInt64: return sizeof(uint64_t);
    default: return reportUndefinedElementSize();
  }
}

inline bool isFloatingType(ScalarType t) {
  return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16;
}
inline bool isReducedFloatingType(ScalarType t) {
  return t == kHalf || t == kBFloat16;
}
inline bool isIntegralType(ScalarType t, bool includeBool) {
  return (includeBool && t == kBool) || (t <= kLong && t >= kByte);
}
inline bool isSignedType(ScalarType t) {
  return t != kByte && t != kBool;
}

// Returns the smallest type that holds the values of both types, by PyTorch's table: uint8 and int8 give int16; half
// and bfloat16 give float.
C10_API ScalarType promoteTypes(ScalarType a, ScalarType b);
// Returns whether a result of type `from` may be written into a tensor of type `to`. A float may not be written into an
// integer, nor a number into a bool.
C10_API bool canCast(ScalarType from, ScalarType to);

C10_API std::ostream& operator<<(std::ostream& out, ScalarType t);

} // namespace reftorch::c10
