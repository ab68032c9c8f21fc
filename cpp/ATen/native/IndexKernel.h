// Mirrors: aten/src/ATen/native/IndexKernel.h, aten/src/ATen/native/ScatterGatherChecks.h
//
// The stubs of all ops that read or write elements at places given by a tensor of indices.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/macros/Macros.h>

#include <limits>

namespace reftorch::at::native {

// How an index becomes a distance in memory: index * stride bytes, after a check that the index is within `size`.
struct IndexRule {
  // The kind of op that uses the indices. Subscript, Fill and Take accept negative indices, which count from the end;
  // the others raise. The kind also decides the message of the error.
  enum class Use { Subscript, Gather, Select, Copy, Fill, Take };
  Use use = Use::Subscript;
  int64_t size = -1; // -1: the indices are checked distances in bytes already
  int64_t stride_bytes = 1;
  int64_t dim = 0; // for the message of the error
};

// The indices that a rule accepts, as numbers that also a kernel on a device can hold.
struct IndexBounds final {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  int64_t size = 0; // what a negative index counts from

  explicit IndexBounds(const IndexRule& rule) {
    using Use = IndexRule::Use;
    const bool from_the_end = rule.use == Use::Subscript || rule.use == Use::Fill || rule.use == Use::Take;
    if (rule.size >= 0) {
      low = from_the_end ? -rule.size : 0;
      high = size = rule.size;
    }
  }
  C10_HOST_DEVICE bool contain(int64_t index) const {
    return low <= index && index < high;
  }
  C10_HOST_DEVICE int64_t wrap(int64_t index) const {
    return index + (index < 0 ? size : 0);
  }
};

// The three tensors broadcast to one shape; `indices` is int64.
// index: `read` has stride 0 along the indexed dimensions, and written[i] = read[i + offset(indices[i])].
using index_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule);
DECLARE_DISPATCH(index_fn, index_stub)
// The simplest and most frequent case of index: written[i] = read[indices[i]] copies whole rows of the first dimension.
// All three are contiguous. The shape of written is the shape of indices, followed by the other dimensions of read.
using index_rows_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, IndexRule::Use use);
DECLARE_DISPATCH(index_rows_fn, index_rows_stub)
// index_put: `written` has stride 0 along the indexed dimensions, and written[i + offset(indices[i])] becomes read[i],
// or the reduction of the old value and read[i]. Where indices repeat, REPLACE keeps the last value.
enum class ReductionType { REPLACE, SUM, PROD, MAX, MIN };
using index_put_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule,
                              ReductionType reduce);
DECLARE_DISPATCH(index_put_fn, index_put_stub)

// Calls refuse(index) for the first index (int64, contiguous) that is outside of [0, size).
using check_bounds_fn = void (*)(const Tensor& indices, int64_t size, c10::function_ref<void(int64_t index)> refuse);
DECLARE_DISPATCH(check_bounds_fn, check_bounds_stub)
// offsets[i] += index[i] * stride_bytes, both contiguous; a negative index counts from the end. Raises IndexError for
// an index out of range; the message names `number` as the dimension.
using add_offsets_fn = void (*)(const Tensor& offsets, const Tensor& index, int64_t number, int64_t size,
                                int64_t stride_bytes);
DECLARE_DISPATCH(add_offsets_fn, add_offsets_stub)

// out = mask ? value : self
using masked_fill_fn = void (*)(TensorIterator& iter, const Scalar& value);
DECLARE_DISPATCH(masked_fill_fn, masked_fill_stub)

// Returns the elements of self where mask (bool, same shape as self) is true; both are contiguous.
using masked_select_fn = Tensor (*)(const Tensor& self, const Tensor& mask);
DECLARE_DISPATCH(masked_select_fn, masked_select_stub)

// Copies the elements of source, in order, to the places of out where mask is true. All are contiguous; out and mask
// have one shape.
using masked_scatter_fn = void (*)(const Tensor& out, const Tensor& mask, const Tensor& source);
DECLARE_DISPATCH(masked_scatter_fn, masked_scatter_stub)

// Returns the coordinates of the nonzero elements of self (contiguous), in order: (dim, count), int64.
using nonzero_fn = Tensor (*)(const Tensor& self);
DECLARE_DISPATCH(nonzero_fn, nonzero_stub)

} // namespace reftorch::at::native
