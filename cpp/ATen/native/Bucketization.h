// Mirrors: aten/src/ATen/native/BucketizationUtils.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// For each value the number of boundaries below it (`right`: or equal to it). result, values: (rows, n); boundaries:
// (rows, m), or (1, m) for all rows; all contiguous. `sorter`, where defined, lists each row's boundaries in order.
// result is int64 or int32.
using searchsorted_fn = void (*)(const Tensor& result, const Tensor& values, const Tensor& boundaries,
                                 const Tensor& sorter, bool right);
DECLARE_DISPATCH(searchsorted_fn, searchsorted_stub)

} // namespace reftorch::at::native
