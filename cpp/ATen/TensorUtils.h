// Mirrors: aten/src/ATen/TensorUtils.h, aten/src/ATen/ExpandUtils.h (infer_dense_strides)
// Pure arithmetic on shapes and strides. Left out: the argument checkers of legacy kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace reftorch::at::detail {

// The strides with which memory laid out as (oldshape, oldstride) reads as `newshape` without a copy; nothing where
// there are none.
TORCH_API std::optional<DimVector> computeStride(IntArrayRef oldshape, IntArrayRef oldstride, IntArrayRef newshape);

// Strides of a dense tensor whose dimensions lie in memory in the same order as those given.
TORCH_API DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);

TORCH_API DimVector contiguous_strides(IntArrayRef sizes);
// The order N, H, W, C of a 4-d (N, C, H, W) shape.
TORCH_API DimVector channels_last_strides(IntArrayRef sizes);
// The memory format that the strides look like; the contiguous one where they could be either.
TORCH_API MemoryFormat suggest_memory_format(const Tensor& t);

} // namespace reftorch::at::detail
