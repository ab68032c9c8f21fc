// Mirrors: aten/src/ATen/native/Resize.h
// Giving a tensor another shape in place, with more memory where its storage is too small.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// For `out=`: gives `output` the shape (contiguous) if it has another one; true if it did.
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
// Keeps the elements that are there. RuntimeError where the storage cannot grow (memory of numpy's).
// Makes sure that the memory has so many bytes; what it held stays.
TORCH_API void maybe_resize_storage(c10::StorageImpl* storage, size_t new_size_bytes);
TORCH_API const Tensor& resize_(const Tensor& self, IntArrayRef size);

} // namespace reftorch::at
