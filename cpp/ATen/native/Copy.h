// Mirrors: aten/src/ATen/native/Copy.h
// Moving elements between tensors, with a change of dtype where they differ.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

using copy_fn = void (*)(TensorIterator& iter, bool non_blocking);
DECLARE_DISPATCH(copy_fn, copy_stub)

} // namespace reftorch::at::native
