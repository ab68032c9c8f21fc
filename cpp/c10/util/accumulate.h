// Mirrors: c10/util/accumulate.h
#pragma once

#include <c10/util/ArrayRef.h>

namespace reftorch::c10 {

// The product of the sizes: the number of elements of that shape, 1 for no dimensions.
inline int64_t multiply_integers(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    product *= size;
  }
  return product;
}

} // namespace reftorch::c10
