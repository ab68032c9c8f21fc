// Mirrors: aten/src/ATen/native/TensorShape.h
#pragma once

#include <ATen/EmptyTensor.h>

namespace reftorch::at::native {

// Returns a view of `self` with these sizes and strides; without an offset the view has the offset of self.
inline Tensor as_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return detail::alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}
inline Tensor as_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  return detail::alias_with_sizes_and_strides(self, sizes, strides, storage_offset);
}

} // namespace reftorch::at::native
