// Mirrors: aten/src/ATen/ExpandUtils.h
// Broadcasting: trailing dimensions are matched; a dimension of size 1 stretches.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// RuntimeError with PyTorch's text where the shapes do not broadcast.
TORCH_API DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b);
// Whether a tensor of `shape` expands to `desired`.
TORCH_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired);
// Fills in the one -1 of a view's shape. RuntimeError where it cannot be.
TORCH_API DimVector infer_size(IntArrayRef shape, int64_t numel);

// Sums a gradient down to the shape it was broadcast from.
TORCH_API Tensor sum_to(const Tensor& tensor, IntArrayRef shape);

} // namespace reftorch::at
