// Mirrors: aten/src/ATen/native/IndexKernel.h, aten/src/ATen/native/ScatterGatherChecks.h
// The seam of all ops that move elements to or from places named by a tensor of indices.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// How an index becomes a distance in memory: index * stride bytes, after a check against `size`.
struct IndexRule {
  // Who asks. Subscript, Fill and Take may count from the end; the others may not. It also decides the error's words.
  enum class Use { Subscript, Gather, Select, Copy, Fill, Take };
  Use use = Use::Subscript;
  int64_t size = -1; // -1: these are distances in bytes already, checked
  int64_t stride_bytes = 1;
  int64_t dim = 0; // for the message
};

// Three tensors of one shape (by broadcasting); `indices` is int64.
// index: `read` has stride 0 along the indexed dimensions, and written[i] = read[i + offset(indices[i])].
using index_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule);
DECLARE_DISPATCH(index_fn, index_stub)
// The plainest and most frequent index: written[i] = read[indices[i]], whole rows of the first dimension. All
// contiguous; indices of any shape, written of that shape and the rest of read's.
using index_rows_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, IndexRule::Use use);
DECLARE_DISPATCH(index_rows_fn, index_rows_stub)
// index_put: `written` has the stride 0, and written[i + offset(indices[i])] becomes read[i], or what the reduction
// makes of both. Where indices repeat, REPLACE keeps the last one.
enum class ReductionType { REPLACE, SUM, PROD, MAX, MIN };
using index_put_fn = void (*)(const Tensor& written, const Tensor& read, const Tensor& indices, const IndexRule& rule,
                              ReductionType reduce);
DECLARE_DISPATCH(index_put_fn, index_put_stub)

// Calls refuse(index) for the first of the indices (int64, contiguous) that lies outside of [0, size).
using check_bounds_fn = void (*)(const Tensor& indices, int64_t size, c10::function_ref<void(int64_t index)> refuse);
DECLARE_DISPATCH(check_bounds_fn, check_bounds_stub)
// offsets[i] += index[i] * stride_bytes, both contiguous; a negative index counts from the end. IndexError for an index
// out of range, which names the dimension `number`.
using add_offsets_fn = void (*)(const Tensor& offsets, const Tensor& index, int64_t number, int64_t size,
                                int64_t stride_bytes);
DECLARE_DISPATCH(add_offsets_fn, add_offsets_stub)

// out = mask ? value : self
using masked_fill_fn = void (*)(TensorIterator& iter, const Scalar& value);
DECLARE_DISPATCH(masked_fill_fn, masked_fill_stub)

// The elements of self where mask (of the same shape, bool) is true; both contiguous.
using masked_select_fn = Tensor (*)(const Tensor& self, const Tensor& mask);
DECLARE_DISPATCH(masked_select_fn, masked_select_stub)

// The elements of source, in order, go to where mask is true; all contiguous, out and mask of one shape.
using masked_scatter_fn = void (*)(const Tensor& out, const Tensor& mask, const Tensor& source);
DECLARE_DISPATCH(masked_scatter_fn, masked_scatter_stub)

// The coordinates of the nonzero elements of self (contiguous), in order: (dim, count), int64.
using nonzero_fn = Tensor (*)(const Tensor& self);
DECLARE_DISPATCH(nonzero_fn, nonzero_stub)

} // namespace reftorch::at::native
