// Mirrors: aten/src/ATen/native/ReduceOpsUtils.h
// What reductions have in common: which dimensions go, the result's shape, and the iterator a kernel runs over. Left
// out: named dimensions.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>

#include <optional>

namespace reftorch::at::native {

using DimMask = std::bitset<dim_bitset_size>;
using OptionalIntArrayRef = std::optional<IntArrayRef>;

// No dims, or an empty list: all of them.
TORCH_API DimMask make_dim_mask(OptionalIntArrayRef dims, int64_t ndim);
// Reduced dimensions become 1 if `keepdim`, else they go.
TORCH_API DimVector shape_from_dim_mask(const Tensor& self, DimMask mask, bool keepdim);
// RuntimeError where a reduction without identity meets no element: `max(): Expected reduction dim ...`.
TORCH_API void zero_numel_check_dims(const Tensor& self, IntArrayRef dims, const char* fn_name);
// The dtype to compute in: the one asked for, or out's, or int64 for integers, or self's.
TORCH_API ScalarType infer_dtype_from_optional(const Tensor& self, std::optional<ScalarType> dtype, const Tensor& out,
                                               const char* fn_name);

// One reduction from self to out. It owns what its iterator refers to. The input is cast to `in_dtype`; the kernel
// writes `out_dtype`, which finish() casts into a given `out` of another dtype.
class TORCH_API ReductionPlan final {
 public:
  ReductionPlan(Tensor& out, const Tensor& self, OptionalIntArrayRef dims, bool keepdim, ScalarType in_dtype,
                ScalarType out_dtype);
  ReductionPlan(const ReductionPlan&) = delete;
  ReductionPlan& operator=(const ReductionPlan&) = delete;

  // No elements to reduce: the kernel is not to run, `out` is to be filled.
  bool empty() const {
    return source_.numel() == 0;
  }
  // RuntimeError where empty().
  TensorIterator& iter() {
    return *iter_;
  }
  // Where the kernel writes.
  const Tensor& result() const {
    return result_;
  }
  void finish();

 private:
  Tensor& out_;
  Tensor source_, result_;
  Tensor expanded_; // result_, expanded to self's shape with stride 0 in the reduced dimensions
  std::optional<TensorIterator> iter_;
};

} // namespace reftorch::at::native
