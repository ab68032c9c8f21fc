// Mirrors: aten/src/ATen/native/Sorting.cpp
//
// Ops about the order along a dimension: sorted rows, the largest elements of rows, and single elements selected by
// rank. quantile is in Quantile.cpp. Left out: named dimensions.
#include <ATen/native/Fill.h>
#include <ATen/native/Sorting.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(sort_stub)
DEFINE_DISPATCH(topk_stub)
DEFINE_DISPATCH(kthvalue_stub)
DEFINE_DISPATCH(median_stub)
DEFINE_DISPATCH(mode_stub)

// Resizes a given output, and raises RuntimeError where its dtype differs.
static void prepare(Tensor& out, const char* what, const char* name, IntArrayRef shape, ScalarType dtype,
                    const Tensor& self) {
  if (!out.defined()) {
    out = detail::empty_generic(shape, dtype, self.device());
    return;
  }
  TORCH_CHECK(out.scalar_type() == dtype, name, "(): Expected out tensor `", what, "` to have dtype ",
              c10::dtypeName(dtype), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  resize_output(out, shape);
  assert_no_internal_overlap(out);
  assert_no_overlap(out, self);
}

// Returns a copy of self if the values are written to self itself, as in torch.sort(x, out=(x, indices)).
static Tensor apart_from(const Tensor& values, const Tensor& self) {
  return values.is_same(self) ? at::clone(self) : self;
}

// Views a 0-dim tensor as a vector of one element, because the kernels need a dimension.
static Tensor as_row(const Tensor& t) {
  return t.dim() == 0 ? as_view(t, int64_t(1), int64_t(1)) : t;
}

// --- sort ------------------------------------------------------------------------------------------------------------

// Allocates a result with the strides of self.
static void prepare_in_order(Tensor& out, const char* what, const Tensor& order, ScalarType dtype, const Tensor& self) {
  if (!out.defined()) {
    out = detail::empty_strided_generic(order.sizes(), order.strides(), dtype, self.device());
    return;
  }
  const bool fits = out.sizes() == self.sizes();
  prepare(out, what, "sort", self.sizes(), dtype, self);
  if (!fits) {
    out.unsafeGetTensorImpl()->set_sizes_and_strides(order.sizes(), order.strides(), out.storage_offset());
  }
}

static void sort_stable_out(const Tensor& self, std::optional<bool> /*stable: it always is*/, int64_t dim,
                            bool descending, Tensor& values, Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  const Tensor input = apart_from(values, self);
  const Tensor order = empty_like_impl(input, kLong, std::nullopt);
  prepare_in_order(values, "values", order, input.scalar_type(), input);
  prepare_in_order(indices, "indices", order, kLong, input);
  if (input.numel() > 0) {
    sort_stub(input.device().type(), as_row(values), as_row(indices), as_row(input), dim, descending);
  }
}

static void sort_out(const Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  sort_stable_out(self, false, dim, descending, values, indices);
}

static Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}
static Tensor argsort_stable(const Tensor& self, bool /*stable*/, int64_t dim, bool descending) {
  return argsort(self, dim, descending);
}
static Tensor& argsort_stable_out(const Tensor& self, bool stable, int64_t dim, bool descending, Tensor& out) {
  Tensor values;
  sort_stable_out(self, stable, dim, descending, values, out);
  return out;
}

static Tensor msort(const Tensor& self) {
  return std::get<0>(at::sort(self, 0, false));
}
static Tensor& msort_out(const Tensor& self, Tensor& out) {
  Tensor indices;
  sort_stable_out(self, false, 0, false, out, indices);
  return out;
}

static void topk_out(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, Tensor& values,
                     Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.sizes()[dim] : 1), "selected index k out of range. Hint: k is ", k,
              ", and dimension ", dim, " has size ", self.dim() > 0 ? self.sizes()[dim] : 1);
  TORCH_CHECK(self.scalar_type() != kBool, "topk does not support bool dtypes on CPU");
  DimVector shape(self.sizes());
  if (self.dim() > 0) {
    shape[dim] = k;
  }
  const Tensor input = apart_from(values, self);
  prepare(values, "values", "topk", shape, input.scalar_type(), input);
  prepare(indices, "indices", "topk", shape, kLong, input);
  if (input.dim() == 0) {
    at::copy_(values, input);
    zero_impl(indices);
  } else if (values.numel() > 0) {
    topk_stub(input.device().type(), values, indices, input, dim, largest, sorted);
  }
}

// --- one element of each row -----------------------------------------------------------------------------------------

// Runs kernel(values, indices, self), whose results have size 1 along `dim`; this dimension is removed unless
// `keepdim`.
template <typename Kernel>
static void select_from_rows(const char* name, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                             Tensor& indices, const Kernel& kernel) {
  const DimMask mask = make_dim_mask(IntArrayRef(dim), self.dim());
  const DimVector shape = shape_from_dim_mask(self, mask, keepdim), kept = shape_from_dim_mask(self, mask, true);
  prepare(values, "values", name, shape, self.scalar_type(), self);
  prepare(indices, "indices", name, shape, kLong, self);
  if (self.numel() == 0) {
    return;
  }
  auto with_dim = [&](const Tensor& t) {
    DimVector strides(t.strides());
    if (!keepdim && self.dim() > 0) {
      strides.insert(dim, 0);
    }
    return as_row(as_view(t, kept, strides));
  };
  kernel(with_dim(values), with_dim(indices), as_row(self));
}

static void kthvalue_out(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  zero_numel_check_dims(self, dim, "kthvalue");
  const int64_t size = self.dim() > 0 ? self.sizes()[dim] : 1;
  TORCH_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ", dim, ". Hint: k is ", k,
              ", the dimension has size ", size);
  select_from_rows("kthvalue", self, dim, keepdim, values, indices,
                   [&](const Tensor& v, const Tensor& i, const Tensor& rows) {
                     if (self.dim() == 0) { // also for a bool
                       Tensor value = v;
                       at::copy_(value, rows);
                       zero_impl(i);
                     } else {
                       kthvalue_stub(self.device().type(), v, i, rows, dim, k);
                     }
                   });
}

static void median_rows(const char* name, const Tensor& self, int64_t dim, bool keepdim, bool ignore_nan,
                        Tensor& values, Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  zero_numel_check_dims(self, dim, name);
  select_from_rows(name, self, dim, keepdim, values, indices,
                   [&](const Tensor& v, const Tensor& i, const Tensor& rows) {
                     median_stub(self.device().type(), v, i, rows, dim, ignore_nan);
                   });
}
static void median_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  median_rows("median", self, dim, keepdim, /*ignore_nan=*/false, values, indices);
}
static void nanmedian_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  median_rows("nanmedian", self, dim, keepdim, /*ignore_nan=*/true, values, indices);
}

static Tensor median_all(const char* name, const Tensor& self, bool ignore_nan) {
  if (self.numel() == 0) {
    Tensor result = detail::empty_generic({}, self.scalar_type(), self.device());
    if (self.is_floating_point()) {
      fill_impl(result, std::numeric_limits<double>::quiet_NaN());
    } else { // the integer that the processor converts a NaN to
      const bool wide = self.scalar_type() == kLong, narrow = self.itemsize() < 4;
      fill_impl(result, self.scalar_type() == kBool ? 1
                        : narrow                    ? 0
                        : wide                      ? std::numeric_limits<int64_t>::min()
                                                    : std::numeric_limits<int32_t>::min());
    }
    return result;
  }
  Tensor values, indices;
  median_rows(name, at::reshape(self, {-1}), 0, /*keepdim=*/false, ignore_nan, values, indices);
  return values;
}
static Tensor median(const Tensor& self) {
  return median_all("median", self, /*ignore_nan=*/false);
}
static Tensor nanmedian(const Tensor& self) {
  return median_all("nanmedian", self, /*ignore_nan=*/true);
}

static void mode_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  zero_numel_check_dims(self, dim, "mode");
  select_from_rows(
      "mode", self, dim, keepdim, values, indices,
      [&](const Tensor& v, const Tensor& i, const Tensor& rows) { mode_stub(self.device().type(), v, i, rows, dim); });
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(sort_out), kernels(sort_stub), derive::OUT);
  m.def_structured(
      "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      TORCH_FN(sort_stable_out), kernels(sort_stub), derive::OUT);
  m.def_composite("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", TORCH_FN(argsort));
  m.def_composite("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
                  TORCH_FN(argsort_stable));
  m.def(
      "argsort.stable_out(Tensor self, *, bool stable, int dim=-1, bool descending=False, "
      "Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(argsort_stable_out), kernels(sort_stub), variants::FUNCTION);
  m.def_composite("msort(Tensor self) -> Tensor", TORCH_FN(msort));
  m.def("msort.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(msort_out), kernels(sort_stub),
        variants::FUNCTION);
  m.def_structured(
      "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, "
      "Tensor indices)",
      TORCH_FN(topk_out), kernels(fill_stub, zero_stub, topk_stub), derive::OUT);
  m.def_structured("kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(kthvalue_out), kernels(fill_stub, zero_stub, kthvalue_stub), derive::OUT);
  m.def("median(Tensor self) -> Tensor", TORCH_FN(median), kernels(fill_stub, zero_stub, median_stub));
  m.def_structured("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(median_dim_out), kernels(median_stub), derive::OUT);
  m.def("nanmedian(Tensor self) -> Tensor", TORCH_FN(nanmedian), kernels(fill_stub, zero_stub, median_stub));
  m.def_structured("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(nanmedian_dim_out), kernels(median_stub), derive::OUT);
  m.def_structured("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(mode_out), kernels(mode_stub), derive::OUT);
}

} // namespace reftorch::at::native
