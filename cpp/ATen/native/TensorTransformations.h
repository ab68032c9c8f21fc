// Mirrors: aten/src/ATen/native/TensorTransformations.h, aten/src/ATen/native/IndexKernel.h (flip_stub)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/ReduceOps.h>

namespace reftorch::at::native {

// out, in: dense memory seen as (outer, n, inner); dimension n is read backwards.
using flip_fn = void (*)(const Tensor& out, const Tensor& in, DimShape shape);
DECLARE_DISPATCH(flip_fn, flip_stub)

} // namespace reftorch::at::native
