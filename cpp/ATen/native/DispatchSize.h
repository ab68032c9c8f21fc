// Mirrors: aten/src/ATen/native/cuda/IndexKernel.cu (OpaqueType)
//
// dispatch_size(itemsize, f) is for kernels that only move elements: such a kernel is compiled for each size of an
// element, not for each dtype.
#pragma once

#include <c10/core/ScalarType.h>

namespace reftorch::at::native {

// Calls f with an unsigned integer that is as large as an element.
template <typename F>
void dispatch_size(size_t itemsize, const F& f) {
  static_assert(c10::kMaxElementSize <= sizeof(uint64_t), "the last case would move only 8 bytes of a larger element");
  switch (itemsize) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

} // namespace reftorch::at::native
