// Mirrors: aten/src/ATen/native/TensorTransformations.h, aten/src/ATen/native/IndexKernel.h (flip_stub)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// out, in: dense, of the same shape; `dim` of at least two elements is walked backwards.
using flip_fn = void (*)(const Tensor& out, const Tensor& in, int64_t dim);
DECLARE_DISPATCH(flip_fn, flip_stub)

} // namespace reftorch::at::native
