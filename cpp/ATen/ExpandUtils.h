// Mirrors: aten/src/ATen/ExpandUtils.h
//
// Broadcasting: shapes are matched from the last dimension, and a dimension of size 1 is stretched.
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

// Returns the broadcast shape. Raises RuntimeError with PyTorch's message if the shapes do not broadcast.
TORCH_API DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b);
// Returns whether a tensor of shape `shape` can be expanded to `desired`.
TORCH_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired);
// Replaces the one -1 in a view's shape by the size that fits. Raises RuntimeError if no size fits.
TORCH_API DimVector infer_size(IntArrayRef shape, int64_t numel);

// Sums a gradient to the shape from which its tensor was broadcast.
TORCH_API Tensor sum_to(const Tensor& tensor, IntArrayRef shape);

} // namespace reftorch::at
