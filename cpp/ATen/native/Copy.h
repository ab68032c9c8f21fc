// Mirrors: aten/src/ATen/native/Copy.h
//
// The kernel that copies elements between tensors, and converts the elements where the dtypes differ.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// If one of the two tensors is on the CPU, the device of the iterator is that of the other one. With `non_blocking` the
// kernel need not wait for the copy where the CPU's memory is pinned.
using copy_fn = void (*)(TensorIterator& iter, bool non_blocking);
DECLARE_DISPATCH(copy_fn, copy_stub)

} // namespace reftorch::at::native
