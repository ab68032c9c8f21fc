// Mirrors: aten/src/ATen/native/TensorFactories.h (get_tril_size and the checks of tril_indices)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Writes the coordinates of the elements in a triangle of a (rows, cols) matrix, row by row. `places` is (2, n),
// contiguous, int64: first the row numbers, then the column numbers. The triangle is the part on and above the diagonal
// `offset` if `upper`, else the part on and below the diagonal.
using triangle_indices_fn = void (*)(const Tensor& places, int64_t rows, int64_t cols, int64_t offset, bool upper);
DECLARE_DISPATCH(triangle_indices_fn, triangle_indices_stub)

} // namespace reftorch::at::native
