// Mirrors: c10/util/typeid.h (TypeMeta::name)
//
// The name of a dtype as C++ spells it; some of PyTorch's messages use this name.
#pragma once

#include <c10/core/ScalarType.h>

namespace reftorch::at::native {

inline const char* type_meta_name(c10::ScalarType type) {
  switch (type) {
    case c10::kByte: return "unsigned char";
    case c10::kChar: return "signed char";
    case c10::kShort: return "short int";
    case c10::kInt: return "int";
    case c10::kLong: return "long int";
    case c10::kHalf: return "c10::Half";
    case c10::kFloat: return "float";
    case c10::kDouble: return "double";
    case c10::kBFloat16: return "c10::BFloat16";
    case c10::kBool: return "bool";
    default: return "nullptr (uninitialized)";
  }
}

} // namespace reftorch::at::native
