// Mirrors: aten/src/ATen/TensorUtils.h, aten/src/ATen/ExpandUtils.h (infer_dense_strides)
//
// Computations on shapes and strides. Left out: the argument checkers of legacy kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

namespace reftorch::at::detail {

// Returns the strides with which memory of the layout (oldshape, oldstride) can be read as `newshape` without a copy,
// or nullopt if no strides do.
TORCH_API std::optional<DimVector> computeStride(IntArrayRef oldshape, IntArrayRef oldstride, IntArrayRef newshape);

// Returns the strides of a dense tensor whose dimensions have the same order in memory as the given strides.
TORCH_API DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);

TORCH_API DimVector contiguous_strides(IntArrayRef sizes);
// Returns the strides of a 4-d shape (N, C, H, W) whose dimensions lie in memory in the order N, H, W, C.
TORCH_API DimVector channels_last_strides(IntArrayRef sizes);
// Returns the memory format that fits the strides: contiguous if both formats fit.
TORCH_API MemoryFormat suggest_memory_format(const Tensor& t);

// Returns the name of a tensor's type in PyTorch's error messages, for example "torch.FloatTensor".
TORCH_API std::string type_string(const Tensor& t);

} // namespace reftorch::at::detail
