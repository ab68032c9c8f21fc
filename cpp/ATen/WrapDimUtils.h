// Mirrors: aten/src/ATen/WrapDimUtils.h, c10/core/WrapDimMinimal.h
//
// Converts dimensions given by the caller: a negative one counts from the end, and one out of range raises IndexError.
#pragma once

#include <ATen/core/Tensor.h>

#include <bitset>

namespace reftorch::at {

constexpr size_t dim_bitset_size = 64;

// Returns `dim` as a number from 0 on. A 0-dim tensor counts as one-dimensional here, as in PyTorch, unless
// `wrap_scalar` is false.
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

// Note [More than 64 dimensions]
// Problem: a tensor may have any number of dimensions, but a set of dimensions is stored in 64 bits. Trick: only
// dim_list_to_bitset makes such a set, and it raises for a tensor with more dimensions, as PyTorch does. So sum(dim=(0,
// 64)), flip and tensordot raise for such tensors, while views, pointwise ops and ops along one dimension work. The set
// of all dimensions is a flag instead of bits, so reductions over all dimensions work for any tensor.
class DimSet {
 public:
  static DimSet all() {
    DimSet set;
    set.all_ = true;
    return set;
  }
  bool operator[](int64_t dim) const {
    return all_ || bits_.test(static_cast<size_t>(dim));
  }
  void insert(int64_t dim) {
    bits_.set(static_cast<size_t>(dim));
  }

 private:
  std::bitset<dim_bitset_size> bits_;
  bool all_ = false;
};

// Returns the set of the dims in a list. Raises IndexError for a dim out of range, and RuntimeError for a dim that
// appears twice and for a tensor with more than 64 dimensions.
inline DimSet dim_list_to_bitset(IntArrayRef dims, int64_t ndims) {
  TORCH_CHECK(ndims <= int64_t(dim_bitset_size), "only tensors with up to ", dim_bitset_size, " dims are supported");
  DimSet seen;
  for (int64_t d : dims) {
    const int64_t dim = maybe_wrap_dim(d, ndims);
    TORCH_CHECK(!seen[dim], "dim ", dim, " appears multiple times in the list of dims");
    seen.insert(dim);
  }
  return seen;
}

} // namespace reftorch::at
