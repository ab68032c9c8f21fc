// Mirrors: aten/src/ATen/EmptyTensor.cpp (computeStorageNbytes), aten/src/ATen/native/Resize.h (checkSetStorage)
//
// The one check of sizes, strides and storage offset that come from outside, made before any memory is read with them.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/StorageImpl.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace reftorch::c10 {

// Note [Geometry is checked before memory]
// Problem: the sizes, strides and storage offset of a tensor can come from anywhere: set_, as_strided, a file, numpy, a
// DLPack capsule. Kernels trust these numbers and read `data + offset + sum(index * stride)` without a further check,
// so one negative stride or one product that overflows reads memory that the tensor does not own. Trick: every function
// that makes a tensor of a given geometry on a storage calls check_geometry first. Views made by ops (slices,
// transposes) cannot leave the geometry of their base and need no check. If a storage shrinks while tensors use it,
// StorageImpl::shrunk_ is set, and the next access of each tensor to its memory calls check_geometry again.

// Returns the number of bytes, counted from the start of the storage, that a tensor of this geometry needs; 0 for a
// tensor without elements. Raises RuntimeError if a size, a stride or the offset is negative, if sizes and strides
// differ in length, or if the number of elements or of bytes overflows.
C10_API size_t check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize);

// Makes the checks above, and also raises RuntimeError if `storage` has fewer bytes than the tensor needs.
C10_API void check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize,
                            const Storage& storage);

} // namespace reftorch::c10
