// Mirrors: aten/src/ATen/EmptyTensor.cpp, aten/src/ATen/native/Resize.h
#include <c10/core/Geometry.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace reftorch::c10 {

size_t check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize) {
  TORCH_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset);
  // `last` is the index of the last element in the storage. A dimension of size 0 counts as a dimension of size 1.
  // So the other dimensions of an empty tensor are checked too, because ops on views compute with their strides.
  int64_t last = storage_offset, numel = 1;
  bool overflow = false, numel_overflow = false;
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t reach = 0;
    overflow = overflow || sizes[i] < 0 || strides[i] < 0 ||
               __builtin_mul_overflow(std::max<int64_t>(sizes[i] - 1, 0), strides[i], &reach) ||
               __builtin_add_overflow(last, reach, &last);
    numel_overflow = numel_overflow || __builtin_mul_overflow(numel, sizes[i], &numel);
  }
  int64_t nbytes = 0;
  overflow = overflow || __builtin_add_overflow(last, 1, &last) ||
             __builtin_mul_overflow(last, static_cast<int64_t>(itemsize), &nbytes);
  TORCH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  TORCH_CHECK(!numel_overflow, "numel: integer multiplication overflow for a tensor of sizes ", sizes);
  return numel == 0 ? 0 : static_cast<size_t>(nbytes);
}

void check_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, size_t itemsize,
                    const Storage& storage) {
  const size_t needed = check_geometry(sizes, strides, storage_offset, itemsize);
  TORCH_CHECK(needed <= storage.nbytes(), "setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ",
              storage_offset, ", and itemsize ", itemsize, " requiring a storage size of ", needed,
              " are out of bounds for storage of size ", storage.nbytes());
}

} // namespace reftorch::c10
