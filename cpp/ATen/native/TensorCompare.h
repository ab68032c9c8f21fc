// Mirrors: aten/src/ATen/native/TensorCompare.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

DECLARE_DISPATCH(void (*)(TensorIterator&), where_kernel)
DECLARE_DISPATCH(void (*)(TensorIterator&), clamp_stub)
using clamp_scalar_fn = void (*)(TensorIterator&, const std::optional<Scalar>& min, const std::optional<Scalar>& max);
DECLARE_DISPATCH(clamp_scalar_fn, clamp_scalar_stub)

} // namespace reftorch::at::native
