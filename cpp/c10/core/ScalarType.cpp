// Mirrors: c10/core/ScalarType.cpp
#include <c10/core/ScalarType.h>

#include <c10/util/Exception.h>

namespace reftorch::c10 {

const char* toString(ScalarType t) {
  switch (t) {
#define CASE(cpp_type, name, number) \
  case ScalarType::name: return #name;
    AT_FORALL_SCALAR_TYPES_WITH_NAMES(CASE)
#undef CASE
    case kUInt64: return "UInt64";
    default: return "Undefined";
  }
}

const char* dtypeName(ScalarType t) {
  switch (t) {
    case kByte: return "uint8";
    case kChar: return "int8";
    case kShort: return "int16";
    case kInt: return "int32";
    case kLong: return "int64";
    case kHalf: return "float16";
    case kFloat: return "float32";
    case kDouble: return "float64";
    case kBool: return "bool";
    case kBFloat16: return "bfloat16";
    case kUInt64: return "uint64";
    default: return "undefined";
  }
}

size_t reportUndefinedElementSize() {
  TORCH_CHECK(false, "elementSize: a tensor of undefined dtype has no element size");
  return 0;
}

ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) {
    return ScalarType::Undefined;
  }
  if (a == b) {
    return a;
  }
  const bool a_float = isFloatingType(a), b_float = isFloatingType(b);
  if (a_float != b_float) {
    return a_float ? a : b;
  }
  if (a_float) {
    if (isReducedFloatingType(a) && isReducedFloatingType(b)) {
      return kFloat;
    }
    return elementSize(a) > elementSize(b) ? a : b;
  }
  TORCH_CHECK(a != kUInt64 && b != kUInt64,
              "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b);
  if (a == kBool || b == kBool) {
    return a == kBool ? b : a;
  }
  // uint8 and a signed type promote to the signed type if it is wider, and uint8 and int8 to int16, which holds both.
  if (a == kByte || b == kByte) {
    const ScalarType other = a == kByte ? b : a;
    return other == kChar ? kShort : other;
  }
  return elementSize(a) > elementSize(b) ? a : b;
}

bool canCast(ScalarType from, ScalarType to) {
  if (isFloatingType(from) && isIntegralType(to, /*includeBool=*/false)) {
    return false;
  }
  return from == kBool || to != kBool;
}

std::ostream& operator<<(std::ostream& out, ScalarType t) {
  return out << toString(t);
}

} // namespace reftorch::c10
