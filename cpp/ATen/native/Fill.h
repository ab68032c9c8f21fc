// Mirrors: aten/src/ATen/native/Fill.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

using fill_fn = void (*)(TensorIterator& iter, const Scalar& value);
DECLARE_DISPATCH(fill_fn, fill_stub)

} // namespace reftorch::at::native
