// Mirrors: aten/src/ATen/native/Distance.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

// result[b][i][j] = |x1[b][i] - x2[b][j]|_p. result: (batch, P, R), x1: (batch, P, M), x2: (batch, R, M), contiguous.
using cdist_fn = void (*)(const Tensor& result, const Tensor& x1, const Tensor& x2, double p);
DECLARE_DISPATCH(cdist_fn, cdist_stub)
// grad_x1: (batch, P, M), grad and cdist: (batch, P, R), all contiguous
DECLARE_DISPATCH(void (*)(const Tensor& grad_x1, const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                          const Tensor& cdist),
                 cdist_backward_stub)
// The distances of all pairs of rows of self (n, m), n (n - 1) / 2 numbers: (0, 1), (0, 2), ..., (1, 2), ...
DECLARE_DISPATCH(void (*)(const Tensor& result, const Tensor& self, double p), pdist_forward_stub)
DECLARE_DISPATCH(void (*)(const Tensor& grad_self, const Tensor& grad, const Tensor& self, double p,
                          const Tensor& pdist),
                 pdist_backward_stub)

} // namespace reftorch::at::native
