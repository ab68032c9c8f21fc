// Mirrors: aten/src/ATen/native/ReduceOpsUtils.h
//
// Functions that reductions share: they find the dimensions to reduce, the shape of the result, and the iterator that a
// kernel runs over. Left out: named dimensions.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>

#include <optional>

namespace reftorch::at::native {

using DimMask = DimSet;
using OptionalIntArrayRef = std::optional<IntArrayRef>;

// Returns the set of the dimensions to reduce. No dims, or an empty list of dims, means all dimensions.
TORCH_API DimMask make_dim_mask(OptionalIntArrayRef dims, int64_t ndim);
// Returns the shape of the result: reduced dimensions get size 1 if `keepdim`; otherwise they are removed.
TORCH_API DimVector shape_from_dim_mask(const Tensor& self, const DimMask& mask, bool keepdim);
// Raises RuntimeError where a reduction without an identity has no element to reduce: `max(): Expected reduction dim
// ...`.
TORCH_API void zero_numel_check_dims(const Tensor& self, IntArrayRef dims, const char* fn_name);
// The dtype to compute in: the requested dtype; else the dtype of `out`; else int64 for integers; else the dtype of
// self.
TORCH_API ScalarType infer_dtype_from_optional(const Tensor& self, std::optional<ScalarType> dtype, const Tensor& out,
                                               const char* fn_name);

// One reduction from self to out. The plan owns the tensors that its iterator refers to. The input is cast to
// `in_dtype`; the kernel writes `out_dtype`, and finish() casts the result into a given `out` of another dtype.
class TORCH_API ReductionPlan final {
 public:
  ReductionPlan(Tensor& out, const Tensor& self, OptionalIntArrayRef dims, bool keepdim, ScalarType in_dtype,
                ScalarType out_dtype);
  ReductionPlan(const ReductionPlan&) = delete;
  ReductionPlan& operator=(const ReductionPlan&) = delete;

  // There are no elements to reduce: the caller must fill `out` instead of running the kernel.
  bool empty() const {
    return source_.numel() == 0;
  }
  // Raises RuntimeError if empty().
  TensorIterator& iter() {
    return *iter_;
  }
  void finish();

 private:
  Tensor& out_;
  Tensor source_, result_;
  Tensor expanded_; // result_, expanded to self's shape with stride 0 in the reduced dimensions
  std::optional<TensorIterator> iter_;
};

} // namespace reftorch::at::native
