// Mirrors: aten/src/ATen/native/Repeat.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Writes the sum of repeats (n), contiguous, int64 or int32, to total. RuntimeError where one of them is negative, or
// where no tensor has so many elements.
using repeat_interleave_size_fn = void (*)(const Tensor& repeats, int64_t& total);
DECLARE_DISPATCH(repeat_interleave_size_fn, repeat_interleave_size_stub)
// Writes i to the next repeats[i] places of result, for each i. Both contiguous and of one dtype.
using repeat_interleave_fn = void (*)(const Tensor& result, const Tensor& repeats);
DECLARE_DISPATCH(repeat_interleave_fn, repeat_interleave_stub)

} // namespace reftorch::at::native
