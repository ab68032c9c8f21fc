// Mirrors: aten/src/ATen/native/IndexingUtils.h, aten/src/ATen/native/TensorAdvancedIndexing.h (struct AdvancedIndex)
// x[i, :, mask]: what the indices of x mean for its memory.
#pragma once

#include <ATen/native/IndexKernel.h>

#include <vector>

namespace reftorch::at::native {

// Turns a list of indices (undefined: the whole dimension) into one tensor, which `rule` reads as places in memory.
//
// Result shape, as in numpy: the index tensors are broadcast together; their shape takes the place of the indexed
// dimensions if those stand side by side, and goes to the front otherwise.
struct AdvancedIndex {
  // IndexError for an index out of range, too many indices, a mask of another shape, or indices that do not broadcast.
  AdvancedIndex(const Tensor& self, TensorList indices);

  DimVector shape; // of the result
  Tensor view;     // self with `shape`, stride 0 in the dimensions that are indexed
  Tensor offsets;  // int64, broadcasts to `shape`: the index itself where there is one, else distances in bytes
  IndexRule rule;
};

} // namespace reftorch::at::native
