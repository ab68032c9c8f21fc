// Mirrors: aten/src/ATen/native/Resize.h
// Giving a tensor another shape in place, with more memory if its storage is too small.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Gives an `out=` argument the shape `shape` (contiguous) if it has another one, and returns true if it did.
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
// Makes sure that the storage has at least so many bytes. The bytes that it held stay; the storage never shrinks.
// RuntimeError if the storage is too small and cannot grow because its memory belongs to another library (numpy).
TORCH_API void maybe_resize_storage(c10::StorageImpl* storage, size_t new_size_bytes);
// Gives `self` the sizes `size`, contiguous, at the storage offset that it has. The elements in the storage stay; new
// ones are undefined. `self` is unchanged if the call raises.
TORCH_API const Tensor& resize_(const Tensor& self, IntArrayRef size);

} // namespace reftorch::at
