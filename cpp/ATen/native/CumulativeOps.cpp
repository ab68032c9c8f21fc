// Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum, cumprod, cummax, cummin, logcumsumexp)
//
// Scans: out[i] is the reduction of self[0 ... i].
#include <ATen/native/ReduceOps.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(cumsum_stub)
DEFINE_DISPATCH(cumprod_stub)
DEFINE_DISPATCH(logcumsumexp_stub)
DEFINE_DISPATCH(cummax_stub)
DEFINE_DISPATCH(cummin_stub)

// Kernels read and write contiguous tensors only; other tensors are copied to a buffer and back.
static void scan(DispatchStub<cum_fn>& stub, const Tensor& self, int64_t dim, ScalarType dtype, Tensor& out) {
  const Tensor source = (self.scalar_type() == dtype ? self : cast_to_dtype(self, dtype)).contiguous();
  if (!out.defined()) {
    out = detail::empty_generic(self.sizes(), dtype, self.device());
  }
  resize_output(out, self.sizes());
  const bool direct = out.is_contiguous() && out.scalar_type() == dtype;
  const Tensor result = direct ? out : detail::empty_generic(self.sizes(), dtype, self.device());
  if (self.numel() != 0) {
    stub(self.device().type(), result, source, shape_around(source, dim));
  }
  if (!direct) {
    at::copy_(out, result);
  }
}

static void sum_or_product(DispatchStub<cum_fn>& stub, const char* name, const Tensor& self, int64_t dim,
                           std::optional<ScalarType> opt_dtype, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  const ScalarType dtype = infer_dtype_from_optional(self, opt_dtype, out, name);
  if (out.defined()) {
    assert_no_partial_overlap(out, self);
  }
  if (self.dim() == 0) { // the scan of one number is that number, also for a bool
    if (!out.defined()) {
      out = detail::empty_generic({}, dtype, self.device());
    }
    resize_output(out, {});
    at::copy_(out, self);
    return;
  }
  scan(stub, self, dim, dtype, out);
}

static void cumsum_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  sum_or_product(cumsum_stub, "cumsum", self, dim, dtype, out);
}
static void cumprod_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  sum_or_product(cumprod_stub, "cumprod", self, dim, dtype, out);
}

// log(e^x_0 + ... + e^x_i)
static void logcumsumexp_out(const Tensor& self, int64_t dim, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"logcumsumexp_out_cpu\" not implemented for '",
                              self.scalar_type(), "'");
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(),
              " but found ", out.defined() ? out.scalar_type() : self.scalar_type());
  if (out.defined()) {
    assert_no_partial_overlap(out, self);
  }
  scan(logcumsumexp_stub, self, dim, self.scalar_type(), out);
}

// The largest element so far and its position. Among equal elements the last one is taken, and NaN counts as the
// largest.
static void extremum_so_far(DispatchStub<dim_extremum_fn>& stub, const char* name, const Tensor& self, int64_t dim,
                            Tensor& values, Tensor& indices) {
  TORCH_CHECK_INDEX(self.dim() > 0 || dim == 0 || dim == -1, name,
                    "(): Expected reduction dim -1 or 0 for scalar but got ", dim);
  auto prepare = [&](Tensor& out, const char* what, ScalarType dtype) {
    if (!out.defined()) {
      out = detail::empty_generic(self.sizes(), dtype, self.device());
    }
    TORCH_CHECK(out.scalar_type() == dtype, name, "(): Expected out tensor `", what, "` to have dtype ",
                c10::dtypeName(dtype), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
    resize_output(out, self.sizes());
    return out.is_contiguous() ? out : detail::empty_generic(self.sizes(), dtype, self.device());
  };
  const Tensor value_buffer = prepare(values, "values", self.scalar_type());
  const Tensor index_buffer = prepare(indices, "indices", kLong);
  if (self.numel() != 0) {
    const Tensor source = self.contiguous();
    stub(self.device().type(), value_buffer, index_buffer, source,
         shape_around(source, maybe_wrap_dim(dim, self.dim())));
  }
  if (!value_buffer.is_same(values)) {
    at::copy_(values, value_buffer);
  }
  if (!index_buffer.is_same(indices)) {
    at::copy_(indices, index_buffer);
  }
}
static void cummax_out(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  extremum_so_far(cummax_stub, "cummax", self, dim, values, indices);
}
static void cummin_out(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  extremum_so_far(cummin_stub, "cummin", self, dim, values, indices);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(cumsum_out),
                   kernels(cumsum_stub));
  m.def_structured("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", TORCH_FN(cumprod_out),
                   kernels(cumprod_stub));
  m.def_structured("logcumsumexp(Tensor self, int dim) -> Tensor", TORCH_FN(logcumsumexp_out),
                   kernels(logcumsumexp_stub), derive::OUT);
  m.def_structured("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", TORCH_FN(cummax_out),
                   kernels(cummax_stub), derive::OUT);
  m.def_structured("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", TORCH_FN(cummin_out),
                   kernels(cummin_stub), derive::OUT);
}

} // namespace reftorch::at::native
