// Mirrors: aten/src/ATen/native/Blas.cpp
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

// out (n) = beta * out + alpha * mat (n, m) @ vec (m). If beta is 0, out is not read.
using addmv_fn = void (*)(const Tensor& out, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                          const Scalar& alpha);
DECLARE_DISPATCH(addmv_fn, addmv_stub)
// result () = sum of x[i] * y[i]
using dot_fn = void (*)(const Tensor& result, const Tensor& x, const Tensor& y);
DECLARE_DISPATCH(dot_fn, dot_stub)

} // namespace reftorch::at::native
