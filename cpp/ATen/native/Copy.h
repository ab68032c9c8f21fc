// Mirrors: aten/src/ATen/native/Copy.h
//
// The kernel that moves elements between tensors, with a change of dtype where they differ.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// The iterator's device is the one of its two tensors that is not on the CPU. With `non_blocking` the kernel need not
// wait for the copy where the CPU's memory is pinned.
using copy_fn = void (*)(TensorIterator& iter, bool non_blocking);
DECLARE_DISPATCH(copy_fn, copy_stub)

} // namespace reftorch::at::native
