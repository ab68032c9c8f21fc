// Mirrors: aten/src/ATen/native/Unique.cpp
// Kernels that find which elements, or which rows, are the same.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// The places of the rows of self (contiguous, of shape (n, width)) in ascending order: int64, n. NaN is larger than any
// number; equal rows stay in order.
using order_rows_fn = Tensor (*)(const Tensor& self);
DECLARE_DISPATCH(order_rows_fn, order_rows_stub)
// Which rows begin a run: bool, n. Row i is self[order[i]], or self[i] without an order; it is compared with the one
// before it. NaN differs from itself.
using run_starts_fn = Tensor (*)(const Tensor& self, const Tensor& order);
DECLARE_DISPATCH(run_starts_fn, run_starts_stub)

// The runs of equal rows: the place in order of the first row of each run, the run of each row, and the length of each
// run; all int64. The inverse is empty unless it is wanted.
struct Runs {
  Tensor first, inverse, counts;
};
// rows (n, width), contiguous; the i-th in order is rows[order[i]], or rows[i] without an order. The run of the i-th
// row is written to inverse[places[i]], or to inverse[i] where places are undefined.
using find_runs_fn = Runs (*)(const Tensor& rows, const Tensor& order, const Tensor& places, bool want_inverse);
DECLARE_DISPATCH(find_runs_fn, find_runs_stub)

} // namespace reftorch::at::native
