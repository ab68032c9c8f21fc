// Mirrors: aten/src/ATen/native/ReduceOps.h, aten/src/ATen/native/ReduceAllOps.h
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace reftorch::at::native {

// Kernels over a TensorIterator with one input and one output; the output has stride 0 along the reduced dimensions.
// See ReduceOpsUtils.h.
using reduce_fn = void (*)(TensorIterator&);
DECLARE_DISPATCH(reduce_fn, sum_stub)
DECLARE_DISPATCH(reduce_fn, nansum_stub)
DECLARE_DISPATCH(reduce_fn, mean_stub)
DECLARE_DISPATCH(reduce_fn, prod_stub)
DECLARE_DISPATCH(reduce_fn, and_stub)
DECLARE_DISPATCH(reduce_fn, or_stub)
DECLARE_DISPATCH(reduce_fn, max_values_stub)
DECLARE_DISPATCH(reduce_fn, min_values_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, double p), norm_stub)
DECLARE_DISPATCH(void (*)(TensorIterator&, double correction, bool take_sqrt), std_var_stub)

// Kernels that reduce along one dimension. All tensors are contiguous; (outer, n, inner) is the shape of self around
// that dimension.
struct DimShape {
  int64_t outer = 1, n = 1, inner = 1;
};
TORCH_API DimShape shape_around(const Tensor& self, int64_t dim);

using dim_extremum_fn = void (*)(const Tensor& values, const Tensor& indices, const Tensor& self, DimShape shape);
DECLARE_DISPATCH(dim_extremum_fn, max_stub)
DECLARE_DISPATCH(dim_extremum_fn, min_stub)
using cum_fn = void (*)(const Tensor& result, const Tensor& self, DimShape shape);
DECLARE_DISPATCH(cum_fn, cumsum_stub)
DECLARE_DISPATCH(cum_fn, cumprod_stub)
DECLARE_DISPATCH(cum_fn, logcumsumexp_stub)
DECLARE_DISPATCH(dim_extremum_fn, cummax_stub)
DECLARE_DISPATCH(dim_extremum_fn, cummin_stub)

} // namespace reftorch::at::native
