// Mirrors: aten/src/ATen/native/Resize.h
//
// Gives a tensor another shape in place. Allocates memory if the storage is too small.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Resizes an `out=` argument to `shape` (contiguous) if it has another shape, and warns if it had elements. Returns
// whether the argument was resized.
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
// Makes sure that the storage has at least `new_size_bytes` bytes, and keeps its contents. The storage never shrinks.
// Raises RuntimeError if the storage is too small and not resizable because other code uses its address (numpy, a child
// process).
TORCH_API void maybe_resize_storage(c10::StorageImpl* storage, size_t new_size_bytes);
// Gives `self` the sizes `size` with contiguous strides, and keeps its storage offset. The elements in the storage keep
// their values; new elements are undefined. If the call raises, `self` is unchanged.
TORCH_API const Tensor& resize_(const Tensor& self, IntArrayRef size);

} // namespace reftorch::at
