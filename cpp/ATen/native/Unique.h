// Mirrors: aten/src/ATen/native/Unique.cpp
//
// Kernels that find equal elements, or equal rows.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Returns the positions of the rows of self (contiguous, (n, width)) in ascending order: int64, n. NaN counts as larger
// than any number; equal rows keep their order.
using order_rows_fn = Tensor (*)(const Tensor& self);
DECLARE_DISPATCH(order_rows_fn, order_rows_stub)
// Returns which rows begin a run of equal rows: bool, n. Row i is self[order[i]], or self[i] if order is undefined; it
// is compared with the row before it. NaN differs from itself.
using run_starts_fn = Tensor (*)(const Tensor& self, const Tensor& order);
DECLARE_DISPATCH(run_starts_fn, run_starts_stub)

// The runs of equal rows: the position (in the order) of the first row of each run, the run that each row belongs to,
// and the length of each run; all int64. The inverse is empty unless it was requested.
struct Runs {
  Tensor first, inverse, counts;
};
// rows (n, width) is contiguous; the i-th row in order is rows[order[i]], or rows[i] if order is undefined. The run of
// the i-th row is written to inverse[places[i]], or to inverse[i] if places is undefined.
using find_runs_fn = Runs (*)(const Tensor& rows, const Tensor& order, const Tensor& places, bool want_inverse);
DECLARE_DISPATCH(find_runs_fn, find_runs_stub)

} // namespace reftorch::at::native
