// Mirrors: aten/src/ATen/native/RangeFactories.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

// out[i] = start + i * step; out is contiguous.
using arange_fn = void (*)(const Tensor& out, const Scalar& start, const Scalar& step);
// out[i] goes from start to end in equal steps, both ends included.
using linspace_fn = void (*)(const Tensor& out, const Scalar& start, const Scalar& end);
// out[i] = base ^ x[i], where x is the result of linspace.
using logspace_fn = void (*)(const Tensor& out, const Scalar& start, const Scalar& end, double base);
DECLARE_DISPATCH(arange_fn, arange_stub)
DECLARE_DISPATCH(linspace_fn, linspace_stub)
DECLARE_DISPATCH(logspace_fn, logspace_stub)

} // namespace reftorch::at::native
