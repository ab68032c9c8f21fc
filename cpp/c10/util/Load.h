// Mirrors: c10/util/Load.h
//
// load(p) reads an element of a tensor.
//
// Note [Bool bytes]
// Problem: a tensor of bools is a row of bytes, and a byte may hold any number: view(torch.bool) takes a uint8 tensor's
// bytes, frombuffer a file's, and torch.empty what was in memory before. A C++ bool that is neither 0 nor 1 is
// undefined: two true values compare unequal, `a & b` of 1 and 2 is false, and a sum counts 255. Trick: no kernel reads
// a `bool` from memory. It reads the element with load, for which each byte that is not 0 is true. Results need no
// counterpart: a bool that C++ computed is 0 or 1. Limits: a copy without a change of dtype moves bytes as they are, so
// it may keep a 2. GCC vectorizes most loops over load, but not those that choose one of two bools (`c ? a : b`) or
// convert a bool to a float; such loops compute in uint8_t.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>
#include <type_traits>

namespace reftorch::c10 {

// Returns the T that is stored at `place`. It is always inlined, because the Debug build calls it for every element.
template <typename T>
C10_HOST_DEVICE __attribute__((always_inline)) inline T load(const void* place) {
  if constexpr (std::is_same_v<T, bool>) {
    return *static_cast<const uint8_t*>(place) != 0;
  } else {
    return *static_cast<const T*>(place);
  }
}

template <typename T>
C10_HOST_DEVICE __attribute__((always_inline)) inline T load(const T* place) {
  return load<T>(static_cast<const void*>(place));
}

} // namespace reftorch::c10
