// Mirrors: aten/src/ATen/native/Distance.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// result[b][i][j] = |x1[b][i] - x2[b][j]|_p. result: (batch, P, R), x1: (batch, P, M), x2: (batch, R, M), contiguous.
using cdist_fn = void (*)(const Tensor& result, const Tensor& x1, const Tensor& x2, double p);
DECLARE_DISPATCH(cdist_fn, cdist_stub)

} // namespace reftorch::at::native
