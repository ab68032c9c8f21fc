// Mirrors: aten/src/ATen/native/LinearAlgebra.h
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

// result (m, n) = beta * result + alpha * mat1 (m, k) @ mat2 (k, n), for any strides. If beta is 0, result is not read.
using addmm_fn = void (*)(const Tensor& result, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                          const Scalar& alpha);
DECLARE_DISPATCH(addmm_fn, addmm_stub)
// result (b, m, n) = beta * result + alpha * batch1 (b, m, k) @ batch2 (b, k, n), for any strides. The error for a
// dtype that has no products names the op `name`.
using baddbmm_fn = void (*)(const char* name, const Tensor& result, const Tensor& batch1, const Tensor& batch2,
                            const Scalar& beta, const Scalar& alpha);
DECLARE_DISPATCH(baddbmm_fn, baddbmm_stub)

} // namespace reftorch::at::native
