// Mirrors: aten/src/ATen/native/Pow.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

DECLARE_DISPATCH(void (*)(TensorIterator&), pow_tensor_tensor_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, const Scalar&), pow_tensor_scalar_stub)

} // namespace reftorch::at::native
