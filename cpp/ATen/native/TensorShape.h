// Mirrors: aten/src/ATen/native/TensorShape.h
#pragma once

#include <ATen/EmptyTensor.h>

namespace reftorch::at::native {

// A view of `self` with this geometry; the offset is self's own unless given.
inline Tensor as_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return detail::alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}
inline Tensor as_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  return detail::alias_with_sizes_and_strides(self, sizes, strides, storage_offset);
}

} // namespace reftorch::at::native
