// Mirrors: aten/src/ATen/native/SummaryOps.cpp
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// result[self[i]] += weights[i], or += 1 if `weights` is undefined. All are contiguous, and self has no negative
// element. result starts with zeros; its dtype is that of weights (float32 or float64), or int64.
using bincount_fn = void (*)(const Tensor& result, const Tensor& self, const Tensor& weights);
DECLARE_DISPATCH(bincount_fn, bincount_stub)
// result[j] is the number of elements of self in the j-th of the equal parts of [min, max]; self is contiguous.
using histc_fn = void (*)(const Tensor& result, const Tensor& self, double min, double max);
DECLARE_DISPATCH(histc_fn, histc_stub)

} // namespace reftorch::at::native
