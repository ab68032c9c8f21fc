// Mirrors: aten/src/ATen/native/Scalar.cpp (_local_scalar_dense)
//
// The kernel that reads the value of a one-element tensor. On an accelerator the kernel waits for the value.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

using local_scalar_dense_fn = Scalar (*)(const Tensor& self);
DECLARE_DISPATCH(local_scalar_dense_fn, local_scalar_dense_stub)

} // namespace reftorch::at::native
