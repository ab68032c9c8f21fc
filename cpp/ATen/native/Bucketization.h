// Mirrors: aten/src/ATen/native/BucketizationUtils.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Computes, for each value, the number of boundaries below the value (with `right`: below or equal). result, values:
// (rows, n); boundaries: (rows, m), or (1, m) for all rows. All are contiguous. If `sorter` is defined, it lists the
// positions of the boundaries of each row in ascending order. result is int64 or int32.
using searchsorted_fn = void (*)(const Tensor& result, const Tensor& values, const Tensor& boundaries,
                                 const Tensor& sorter, bool right);
DECLARE_DISPATCH(searchsorted_fn, searchsorted_stub)

} // namespace reftorch::at::native
