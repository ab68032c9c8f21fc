// Mirrors: aten/src/ATen/EmptyTensor.h, aten/src/ATen/ScalarOps.h
// Fresh tensors for kernels, below the Dispatcher.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::detail {

// Contents undefined. RuntimeError for a negative size.
TORCH_API Tensor empty_generic(IntArrayRef sizes, ScalarType dtype, Device device = Device());
TORCH_API Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                                       Device device = Device());
// A 0-dim cpu tensor; the number is converted as a cast converts it, without a check.
TORCH_API Tensor scalar_tensor(const Scalar& value, ScalarType dtype);
// A 0-dim tensor of the number's own dtype that takes part in promotion as a number ("wrapped number").
TORCH_API Tensor wrapped_scalar_tensor(const Scalar& value);
// Another TensorImpl on the same storage with a geometry of its own; no autograd history.
TORCH_API Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                              int64_t storage_offset);
// The bytes that a storage must have for a tensor of this geometry; see c10::check_geometry, which it calls.
TORCH_API size_t computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides, size_t itemsize,
                                      int64_t storage_offset = 0);

} // namespace reftorch::at::detail

namespace reftorch::at {

// A number as an operand of an op: at::mul(x, number(0.5)).
inline Tensor number(double value) {
  return detail::wrapped_scalar_tensor(value);
}

} // namespace reftorch::at
