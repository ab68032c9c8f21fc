// Mirrors: aten/src/ATen/native/ReduceOpsUtils.h
#include <ATen/native/ReduceOpsUtils.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/native/ReduceOps.h>

namespace reftorch::at::native {

DimMask make_dim_mask(OptionalIntArrayRef dims, int64_t ndim) {
  const IntArrayRef given = dims.value_or(IntArrayRef());
  return given.empty() ? DimSet::all() : dim_list_to_bitset(given, ndim);
}

DimVector shape_from_dim_mask(const Tensor& self, const DimMask& mask, bool keepdim) {
  DimVector shape;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (!mask[d]) {
      shape.push_back(self.sizes()[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

void zero_numel_check_dims(const Tensor& self, IntArrayRef dims, const char* fn_name) {
  if (self.numel() != 0) {
    return;
  }
  TORCH_CHECK(!dims.empty(), fn_name, "(): Expected reduction dim to be specified for input.numel() == 0. ",
              "Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : dims) {
    const int64_t dim = maybe_wrap_dim(d, self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[dim] != 0, fn_name, "(): Expected reduction dim ", dim,
                      " to have non-zero size.");
  }
}

ScalarType infer_dtype_from_optional(const Tensor& self, std::optional<ScalarType> dtype, const Tensor& out,
                                     const char* fn_name) {
  if (dtype.has_value()) {
    TORCH_CHECK(!out.defined() || out.scalar_type() == *dtype, fn_name, "(): Expected out tensor to have dtype ",
                c10::dtypeName(*dtype), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
    return *dtype;
  }
  if (out.defined()) {
    return out.scalar_type();
  }
  return c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) ? kLong : self.scalar_type();
}

DimShape shape_around(const Tensor& self, int64_t dim) {
  DimShape shape;
  if (self.dim() == 0) {
    return shape;
  }
  for (int64_t d = 0; d < self.dim(); d++) {
    (d < dim ? shape.outer : d == dim ? shape.n : shape.inner) *= self.sizes()[d];
  }
  return shape;
}

ReductionPlan::ReductionPlan(Tensor& out, const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                             ScalarType in_dtype, ScalarType out_dtype)
    : out_(out) {
  const DimMask mask = make_dim_mask(dims, self.dim());
  const DimVector shape = shape_from_dim_mask(self, mask, keepdim);
  if (out.defined()) {
    TORCH_CHECK(c10::canCast(out_dtype, out.scalar_type()), "result type ", out_dtype,
                " can't be cast to the desired output type ", out.scalar_type());
    resize_output(out, shape);
    assert_no_internal_overlap(out);
    assert_no_overlap(out, self);
  } else {
    out = detail::empty_generic(shape, out_dtype, self.device());
  }
  result_ = out.scalar_type() == out_dtype ? out : detail::empty_generic(shape, out_dtype, self.device());
  source_ = self.scalar_type() == in_dtype ? self : cast_to_dtype(self, in_dtype);
  if (empty()) {
    return;
  }
  DimVector strides;
  int64_t next = 0;
  for (int64_t d = 0; d < self.dim(); d++) {
    strides.push_back(mask[d] ? 0 : result_.strides()[next]);
    next += !mask[d] || keepdim;
  }
  expanded_ = detail::alias_with_sizes_and_strides(result_, self.sizes(), strides, result_.storage_offset());
  iter_ = TensorIteratorConfig().is_reduction(true).add_output(expanded_).add_input(source_).build();
}

void ReductionPlan::finish() {
  if (!result_.is_same(out_)) {
    at::copy_(out_, result_);
  }
}

} // namespace reftorch::at::native
