// Mirrors: aten/src/ATen/native/Repeat.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Writes the sum of repeats (n; contiguous; int64 or int32) to total. Raises RuntimeError where a number is negative,
// or where the sum is too large for the size of a tensor.
using repeat_interleave_size_fn = void (*)(const Tensor& repeats, int64_t& total);
DECLARE_DISPATCH(repeat_interleave_size_fn, repeat_interleave_size_stub)
// For each i, writes i to the next repeats[i] places of result. Both are contiguous and have one dtype.
using repeat_interleave_fn = void (*)(const Tensor& result, const Tensor& repeats);
DECLARE_DISPATCH(repeat_interleave_fn, repeat_interleave_stub)

} // namespace reftorch::at::native
