// Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (gather, scatter), aten/src/ATen/native/ScatterGatherChecks.h
//
// Ops with one index for each element: gather reads out[i][j] = self[index[i][j]][j], and scatter writes the other way
// round. Left out: sparse gradients.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

#include <algorithm>
#include <limits>

namespace reftorch::at::native {

// Whether `index` is at most as large as `other` in every dimension except `dim` (-1 excepts none). A 0-dim tensor
// counts as a tensor of shape (1).
static bool fits_into(const Tensor& index, const Tensor& other, int64_t dim) {
  auto size = [](const Tensor& t, int64_t d) { return t.dim() == 0 ? 1 : t.size(d); };
  for (int64_t d = 0; d < std::max<int64_t>(index.dim(), 1); d++) {
    if (d != dim && size(index, d) > size(other, d)) {
      return false;
    }
  }
  return true;
}

static void check_same_dims(const Tensor& index, const Tensor& other, const char* name) {
  TORCH_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(other.dim(), 1),
              "Index tensor must have the same number of dimensions as ", name, " tensor");
}

static void check_gather_shapes(const Tensor& self, int64_t dim, const Tensor& index) {
  check_same_dims(index, self, "input");
  for (int64_t d = 0; d < index.dim(); d++) {
    TORCH_CHECK(d == dim || index.sizes()[d] <= (self.dim() == 0 ? 1 : self.sizes()[d]),
                "Size does not match at dimension ", d, " expected index ", index.sizes(),
                " to be no larger than self ", self.sizes(), " apart from dimension ", dim);
  }
}

static void check_scatter_shapes(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_same_dims(index, self, "self");
  const bool fits = fits_into(index, self, dim) && fits_into(index, src, -1);
  check_same_dims(index, src, "src");
  TORCH_CHECK(fits, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
              " apart from dimension ", dim, " and to be no larger size than src ", src.sizes());
}

// out[i][j] = self[index[i][j]][j] for dim 0
static void gather_out(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  if (index.numel() > 0) {
    check_index_dtype("gather", index);
    check_gather_shapes(self, dim, index);
  }
  prepare_out(out, index.sizes(), self, "gather");
  assert_no_partial_overlap(out, index); // `out` may be `index` itself: each index is read before its place is written
  if (index.numel() > 0) {
    index_stub(self.device().type(), out, restride_dim(self, dim, index.sizes()), at::to(index, kLong),
               rule_for(self, dim, IndexRule::Use::Gather));
  }
}

static int64_t check_scatter(const char* name, const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src) {
  dim = maybe_wrap_dim(dim, self.dim());
  if (index.numel() > 0) {
    check_index_dtype(name, index);
  }
  TORCH_CHECK(self.scalar_type() == src.scalar_type(), name, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() > 0) {
    check_scatter_shapes(self, dim, index, src);
  }
  return dim;
}

// For dim 0, self[index[i][j]][j] = src[i][j], or the reduction of both.
static void scatter_impl(const char* name, Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         ReductionType reduce) {
  dim = check_scatter(name, self, dim, index, src);
  assert_no_internal_overlap(self);
  assert_no_overlap(self, index);
  if (index.numel() == 0) {
    return;
  }
  assert_no_overlap(self, src);
  DimVector strides(src.strides());
  strides.resize(index.dim(), 1); // index or self may be 0-dim
  const Tensor read = detail::alias_with_sizes_and_strides(src, index.sizes(), strides, src.storage_offset());
  index_put_stub(self.device().type(), restride_dim(self, dim, index.sizes()), read, at::to(index, kLong),
                 rule_for(self, dim, IndexRule::Use::Gather), reduce);
}

// The number as a source with the shape of the index, all strides 0.
static Tensor number_for(const Tensor& self, const Tensor& index, const Scalar& value) {
  Tensor number = detail::empty_generic({}, self.scalar_type(), self.device());
  fill_impl(number, value);
  return at::expand(number, index.sizes());
}

static void scatter_src_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_impl("scatter", out, dim, index, src, ReductionType::REPLACE);
}
static void scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, Tensor& out) {
  scatter_src_out(self, dim, index, number_for(self, index, value), out);
}
static void scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_impl("scatter_add", out, dim, index, src, ReductionType::SUM);
}

// The older form of scatter_reduce; it has no gradient.
static void scatter_reduce_src_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                   const std::string& reduce, Tensor& out) {
  check_scatter("scatter", self, dim, index, src);
  TORCH_CHECK(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
  start_from(self, out);
  scatter_impl("scatter", out, dim, index, src, reduce == "add" ? ReductionType::SUM : ReductionType::PROD);
}
static void scatter_reduce_value_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                                     const std::string& reduce, Tensor& out) {
  scatter_reduce_src_out(self, dim, index, number_for(self, index, value), reduce, out);
}

// Without `include_self`, the places that receive source elements start from the identity of the reduction instead of
// self.
static void scatter_reduce_two_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                   const std::string& reduce, bool include_self, Tensor& out) {
  check_scatter("scatter_reduce", self, dim, index, src);
  const bool mean = reduce == "mean";
  TORCH_CHECK(mean || reduce == "sum" || reduce == "prod" || reduce == "amax" || reduce == "amin" || reduce == "max" ||
                  reduce == "min", // these two are not documented

              "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  start_from(self, out);
  const ReductionType type = reduction_type(reduce);
  if (!include_self && index.numel() > 0) {
    scatter_impl("scatter_reduce", out, dim, index, number_for(out, index, reduction_identity(type, out.scalar_type())),
                 ReductionType::REPLACE);
  }
  // This check comes after the check of the indices, as in PyTorch.
  TORCH_CHECK_NOT_IMPLEMENTED(!mean || self.scalar_type() != kBool,
                              "\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'");
  if (index.numel() == 0) {
    return;
  }
  scatter_impl("scatter_reduce", out, dim, index, src, type);
  if (mean) {
    Tensor count = detail::empty_generic(out.sizes(), out.scalar_type(), out.device());
    fill_impl(count, include_self ? 1 : 0);
    scatter_impl("scatter_reduce", count, dim, index, number_for(count, index, 1), ReductionType::SUM);
    divide_by_count(out, count);
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
                   TORCH_FN(gather_out), kernels(index_stub), derive::OUT);
  m.def_structured("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", TORCH_FN(scatter_src_out),
                   kernels(index_put_stub));
  m.def_structured("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                   TORCH_FN(scatter_value_out), kernels(fill_stub, zero_stub, index_put_stub));
  m.def_structured("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
                   TORCH_FN(scatter_reduce_src_out), kernels(index_put_stub));
  m.def_structured("scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
                   TORCH_FN(scatter_reduce_value_out), kernels(fill_stub, zero_stub, index_put_stub));
  m.def_structured("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", TORCH_FN(scatter_add_out),
                   kernels(index_put_stub));
  m.def_structured(
      "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
      "Tensor",
      TORCH_FN(scatter_reduce_two_out), kernels(fill_stub, zero_stub, index_put_stub));
}

} // namespace reftorch::at::native
