// Mirrors: aten/src/ATen/WrapDimUtils.h, c10/core/WrapDimMinimal.h
// Negative dims count from the end; IndexError where there is no such dimension.
#pragma once

#include <ATen/core/Tensor.h>

#include <bitset>

namespace reftorch::at {

constexpr size_t dim_bitset_size = 64;

// A 0-dim tensor is taken as one-dimensional for this purpose, as PyTorch does, unless `wrap_scalar` is false.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dim_post_expr, bool wrap_scalar = true) {
  if (dim_post_expr <= 0) {
    TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
    dim_post_expr = 1;
  }
  TORCH_CHECK_INDEX(-dim_post_expr <= dim && dim < dim_post_expr,
                    "Dimension out of range (expected to be in range of [", -dim_post_expr, ", ", dim_post_expr - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + dim_post_expr : dim;
}

// The set of dims to reduce over; an empty list means all of them. RuntimeError for a dim given twice.
inline std::bitset<dim_bitset_size> dim_list_to_bitset(IntArrayRef dims, int64_t ndims) {
  TORCH_CHECK(ndims <= int64_t(dim_bitset_size), "only tensors with up to ", dim_bitset_size, " dims are supported");
  std::bitset<dim_bitset_size> seen;
  for (int64_t d : dims) {
    const int64_t dim = maybe_wrap_dim(d, ndims);
    TORCH_CHECK(!seen[dim], "dim ", dim, " appears multiple times in the list of dims");
    seen[dim] = true;
  }
  if (dims.empty()) {
    for (int64_t d = 0; d < ndims; d++) {
      seen[d] = true;
    }
  }
  return seen;
}

} // namespace reftorch::at
