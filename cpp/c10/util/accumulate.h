// Mirrors: c10/util/accumulate.h
#pragma once

#include <c10/util/ArrayRef.h>

namespace reftorch::c10 {

// Returns the product of the sizes: the number of elements of a tensor of that shape, and 1 for no dimensions.
inline int64_t multiply_integers(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    product *= size;
  }
  return product;
}

} // namespace reftorch::c10
