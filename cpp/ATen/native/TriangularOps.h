// Mirrors: aten/src/ATen/native/TriangularOps.cpp (triu_tril)
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// Sets to zero what lies below (upper) or above (lower) the k-th diagonal of each (rows, cols) matrix in self (*batch,
// rows, cols).
using triu_tril_fn = void (*)(const Tensor& self, int64_t k, bool upper);
DECLARE_DISPATCH(triu_tril_fn, triu_tril_stub)

} // namespace reftorch::at::native
