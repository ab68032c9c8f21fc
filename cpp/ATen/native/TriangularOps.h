// Mirrors: aten/src/ATen/native/TriangularOps.cpp (triu_tril)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Sets to zero the elements below (upper) or above (lower) the k-th diagonal of each (rows, cols) matrix in self
// (*batch, rows, cols).
using triu_tril_fn = void (*)(const Tensor& self, int64_t k, bool upper);
DECLARE_DISPATCH(triu_tril_fn, triu_tril_stub)
// Writes the sum of the diagonal of self (rows, cols) to result, which is 0-dim, and int64 for integers.
using trace_fn = void (*)(const Tensor& result, const Tensor& self);
DECLARE_DISPATCH(trace_fn, trace_stub)

} // namespace reftorch::at::native
