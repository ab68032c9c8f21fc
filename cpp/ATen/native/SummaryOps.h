// Mirrors: aten/src/ATen/native/SummaryOps.cpp
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// result[self[i]] += weights[i], or += 1 where `weights` is undefined; all contiguous, self not negative. result is
// float32, float64 (as weights) or int64, and zero.
using bincount_fn = void (*)(const Tensor& result, const Tensor& self, const Tensor& weights);
DECLARE_DISPATCH(bincount_fn, bincount_stub)
// result[j] is how many elements of self fall in the j-th of equal parts of [min, max]; self is contiguous.
using histc_fn = void (*)(const Tensor& result, const Tensor& self, double min, double max);
DECLARE_DISPATCH(histc_fn, histc_stub)

} // namespace reftorch::at::native
