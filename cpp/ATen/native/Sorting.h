// Mirrors: aten/src/ATen/native/Sorting.h
//
// Kernels that work along one dimension; no tensor is 0-dim or empty. NaN counts as larger than any number.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// A stable sort. values and indices have the shape of self.
using sort_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending);
DECLARE_DISPATCH(sort_fn, sort_stub)
// values and indices have k elements along dim.
using topk_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                         bool sorted);
DECLARE_DISPATCH(topk_fn, topk_stub)

// Kernels that select one element of each row; values and indices have size 1 along dim.
using kthvalue_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t k);
DECLARE_DISPATCH(kthvalue_fn, kthvalue_stub)
using median_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                           bool ignore_nan);
DECLARE_DISPATCH(median_fn, median_stub)
using mode_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim);
DECLARE_DISPATCH(mode_fn, mode_stub)

} // namespace reftorch::at::native
