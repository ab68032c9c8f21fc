// Mirrors: aten/src/ATen/EmptyTensor.h, aten/src/ATen/ScalarOps.h
//
// Makes new tensors for kernels, without a call of the Dispatcher.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::detail {

// Returns a tensor with undefined contents. Raises RuntimeError for a negative size, and where pinned memory is asked
// for that no accelerator can provide. A meta tensor ignores pin_memory.
TORCH_API Tensor empty_generic(IntArrayRef sizes, ScalarType dtype, Device device = Device(), bool pin_memory = false);
TORCH_API Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                                       Device device = Device(), bool pin_memory = false);
// Returns a 0-dim CPU tensor. The number is converted as a cast converts it, without a check for overflow.
TORCH_API Tensor scalar_tensor(const Scalar& value, ScalarType dtype);
// Returns the value of a tensor with one element. Kernels call it, because it does not go through the Dispatcher; ops
// call Tensor::item().
TORCH_API Scalar number_in(const Tensor& t);
// Returns a 0-dim tensor of the number's own dtype that has the low priority of a Python number in type promotion
// ("wrapped number").
TORCH_API Tensor wrapped_scalar_tensor(const Scalar& value);
// Returns a new TensorImpl on the storage of `self` with the given geometry and without autograd history.
TORCH_API Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                              int64_t storage_offset);
// Returns the number of bytes that a storage needs for a tensor of this geometry. Calls c10::check_geometry, which
// raises for a wrong geometry.
TORCH_API size_t computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides, size_t itemsize,
                                      int64_t storage_offset = 0);

} // namespace reftorch::at::detail

namespace reftorch::at {

// Makes a number an operand of an op: at::mul(x, number(0.5)).
inline Tensor number(double value) {
  return detail::wrapped_scalar_tensor(value);
}

} // namespace reftorch::at
