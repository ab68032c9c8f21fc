// Mirrors: aten/src/ATen/EmptyTensor.cpp (computeStorageNbytes), aten/src/ATen/native/Resize.h (checkSetStorage)
// The one check that stands between sizes, strides and an offset from outside, and memory.
#pragma once

#include <c10/macros/Export.h>

#include <c10/core/StorageImpl.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace reftorch::c10 {

// Note [Geometry is checked before memory]
// Problem: sizes, strides and the storage offset of a tensor can come from anywhere: set_, as_strided, a file, numpy,
// a DLPack capsule. Kernels trust them and read `data + offset + sum(index * stride)` without a further check, so one
// negative stride or one product that overflows is a read of memory that the tensor does not own. Trick: whoever makes
// a tensor of a given geometry on a storage calls check_geometry first. Views made by ops (slices, transposes) cannot
// leave the geometry of their base and need no check. A storage that shrinks under living tensors is remembered in
// StorageImpl::shrunk_, and their next access to memory calls check_geometry again.

// The number of bytes that a storage must have, counted from its start, for a tensor of this geometry; 0 for a tensor
// without elements. RuntimeError if a size, a stride or the offset is negative, if sizes and strides differ in length,
// or if the number of elements or of bytes overflows.
C10_API size_t check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize);

// Checks also that `storage` has that many bytes; RuntimeError if it has not.
C10_API void check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize,
                            const Storage& storage);

} // namespace reftorch::c10
