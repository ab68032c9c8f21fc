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

#include <array>
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

// The bytes of an element of each type; 0 for numbers that do not name a type.
constexpr auto kElementSizes = [] {
  std::array<uint8_t, static_cast<size_t>(ScalarType::UInt64) + 1> sizes{};
#define SET_SIZE(cpp_type, name, number) sizes[number] = sizeof(cpp_type);
  AT_FORALL_SCALAR_TYPES_WITH_NAMES(SET_SIZE)
#undef SET_SIZE
  sizes[static_cast<size_t>(ScalarType::UInt64)] = sizeof(uint64_t);
  return sizes;
}();

// The bytes of the largest element. A kernel that moves elements through an integer asserts that none is larger.
constexpr size_t kMaxElementSize = [] {
  size_t largest = 0;
  for (const size_t size : kElementSizes) {
    largest = size > largest ? size : largest;
  }
  return largest;
}();

// Returns the bytes of an element. The sizes are read from a table, because every allocation and every address needs
// them: with a switch, which adds a jump to each of these calls, operations on small tensors took 4 to 10 % longer.
inline size_t elementSize(ScalarType t) {
  const size_t size = kElementSizes[static_cast<uint8_t>(t)];
  return size != 0 ? size : reportUndefinedElementSize();
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
