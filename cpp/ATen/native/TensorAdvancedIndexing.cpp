// Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp
// Reading and writing at places that a tensor of indices or a mask names. Left out: scatter with a reduction, put,
// take, index_copy, index_fill, sparse gradients.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>
#include <ATen/native/TypeMetaName.h>

#include <algorithm>

namespace reftorch::at::native {

DEFINE_DISPATCH(index_stub)
DEFINE_DISPATCH(index_put_stub)
DEFINE_DISPATCH(masked_fill_stub)
DEFINE_DISPATCH(masked_select_stub)
DEFINE_DISPATCH(nonzero_stub)

// --- x[indices], x[indices] = values ---------------------------------------------------------------------------------

static Tensor index(const Tensor& self, TensorList indices) {
  if (indices.size() == 1 && indices[0].defined() && indices[0].scalar_type() == kBool &&
      indices[0].sizes() == self.sizes() && self.dim() > 0) {
    return masked_select_stub(self.device().type(), self.contiguous(), indices[0].contiguous());
  }
  const AdvancedIndex info(self, indices);
  const Tensor result = detail::empty_generic(info.shape, self.scalar_type(), self.device());
  index_stub(self.device().type(), result, info.view, info.offsets, info.rule);
  return result;
}

static void start_from(const Tensor& self, Tensor& out, MemoryFormat format = MemoryFormat::Contiguous) {
  if (!out.defined()) {
    out = at::clone(self, format);
  } else if (!out.is_same(self)) {
    at::copy_(out, self);
  }
}

// out = self, then out[indices] = values, or += with `accumulate`
static void index_put_out(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate, Tensor& out) {
  TORCH_CHECK(self.scalar_type() == values.scalar_type(),
              "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
              " for the destination and ", values.scalar_type(), " for the source.");
  start_from(self, out, MemoryFormat::Preserve);
  assert_no_internal_overlap(out);
  const AdvancedIndex info(out, indices);
  TORCH_CHECK(is_expandable_to(values.sizes(), info.shape), "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", IntArrayRef(info.shape));
  const Tensor source = values.is_alias_of(out) ? at::clone(values) : values;
  index_put_stub(self.device().type(), info.view, at::expand(source, info.shape), info.offsets, info.rule, accumulate);
}

// --- one index tensor for one dimension ------------------------------------------------------------------------------

static void check_index_dtype(const char* name, const Tensor& index) {
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, name,
              "(): Expected dtype int32/int64 for index");
}

// Whether `index` fits into `other` in every dimension (but `dim`, unless it is -1). A 0-dim tensor counts as one of
// shape (1).
static bool fits_into(const Tensor& index, const Tensor& other, int64_t dim) {
  for (int64_t d = 0; d < index.dim(); d++) {
    if (d != dim && index.sizes()[d] > (other.dim() == 0 ? 1 : other.sizes()[d])) {
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
  check_same_dims(index, src, "src");
  TORCH_CHECK(fits_into(index, self, dim) && fits_into(index, src, -1), "Expected index ", index.sizes(),
              " to be no larger than self ", self.sizes(), " apart from dimension ", dim,
              " and to be no larger size than src ", src.sizes());
}

// self as the other operand sees it: the index's shape, standing still along `dim`.
static Tensor restride_dim(const Tensor& self, int64_t dim, IntArrayRef shape) {
  DimVector strides(self.sizes().empty() ? IntArrayRef(int64_t(1)) : self.strides());
  strides[dim] = 0;
  if (shape.empty()) {
    strides = DimVector();
  }
  return detail::alias_with_sizes_and_strides(self, shape, strides, self.storage_offset());
}

static IndexRule rule_for(const Tensor& self, int64_t dim, IndexRule::Use use) {
  IndexRule rule;
  rule.use = use;
  rule.size = self.dim() == 0 ? 1 : self.sizes()[dim];
  rule.stride_bytes = (self.dim() == 0 ? 1 : self.strides()[dim]) * static_cast<int64_t>(self.itemsize());
  rule.dim = dim;
  return rule;
}

// out[i][j] = self[index[i][j]][j] for dim 0
static Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  dim = maybe_wrap_dim(dim, self.dim());
  check_index_dtype("gather", index);
  if (index.numel() > 0) {
    check_gather_shapes(self, dim, index);
  }
  const Tensor result = detail::empty_generic(index.sizes(), self.scalar_type(), self.device());
  if (index.numel() > 0) {
    const Tensor places = at::to(index, kLong);
    index_stub(self.device().type(), result, restride_dim(self, dim, index.sizes()), places,
               rule_for(self, dim, IndexRule::Use::Gather));
  }
  return result;
}

// self[index[i][j]][j] = src[i][j] for dim 0, or += with `accumulate`
static void scatter_impl(const char* name, Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         bool accumulate) {
  dim = maybe_wrap_dim(dim, self.dim());
  check_index_dtype(name, index);
  TORCH_CHECK(self.scalar_type() == src.scalar_type(), name, "(): Expected self.dtype to be equal to src.dtype");
  assert_no_internal_overlap(self);
  assert_no_overlap(self, index);
  if (index.numel() == 0) {
    return;
  }
  check_scatter_shapes(self, dim, index, src);
  assert_no_overlap(self, src);
  const Tensor places = at::to(index, kLong);
  const Tensor read = detail::alias_with_sizes_and_strides(
      src, index.sizes(), index.dim() == 0 ? IntArrayRef() : src.strides(), src.storage_offset());
  index_put_stub(self.device().type(), restride_dim(self, dim, index.sizes()), read, places,
                 rule_for(self, dim, IndexRule::Use::Gather), accumulate);
}

static void scatter_src_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_impl("scatter", out, dim, index, src, /*accumulate=*/false);
}

static void scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, Tensor& out) {
  Tensor number = detail::empty_generic({}, self.scalar_type(), self.device());
  fill_impl(number, value);
  start_from(self, out);
  scatter_impl("scatter", out, dim, index, at::expand(number, index.sizes()), /*accumulate=*/false);
}

static void scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Tensor& out) {
  start_from(self, out);
  scatter_impl("scatter_add", out, dim, index, src, /*accumulate=*/true);
}

// A vector of indices takes whole slices of `dim`: the same move, with the index broadcast along the other dimensions.
static Tensor index_along(const Tensor& index, int64_t dim, int64_t ndim) {
  DimVector sizes(static_cast<size_t>(ndim), 1), strides(static_cast<size_t>(ndim), 0);
  if (ndim > 0) {
    sizes[dim] = index.numel();
    strides[dim] = index.dim() == 0 ? 1 : index.strides()[0];
  }
  return detail::alias_with_sizes_and_strides(index, sizes, strides, index.storage_offset());
}

static Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
              "index_select(): Expected dtype int32 or int64 for index");
  TORCH_CHECK(self.dim() > 0 || index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
              index.numel(), " value(s)");
  dim = maybe_wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    sizes[dim] = index.numel();
  }
  const Tensor result = detail::empty_generic(sizes, self.scalar_type(), self.device());
  if (result.numel() > 0) {
    const Tensor places = index_along(at::to(index, kLong), dim, self.dim());
    index_stub(self.device().type(), result, restride_dim(self, dim, sizes), places,
               rule_for(self, dim, IndexRule::Use::Select));
  }
  return result;
}

// out = self, then out.select(dim, index[i]) += alpha * source.select(dim, i)
static void index_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                          const Scalar& alpha, Tensor& out) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_add_(): Index is supposed to be a vector, but got dim: ", index.dim());
  check_index_dtype("index_add_", index);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), "index_add_(): self (", self.scalar_type(), ") and source (",
              source.scalar_type(), ") must have the same scalar type");
  dim = maybe_wrap_dim(dim, self.dim());
  const int64_t length = source.dim() == 0 ? 1 : source.size(dim);
  TORCH_CHECK(index.numel() == length, "index_add_(): Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", length, "), for dim: ", dim);
  DimVector expected(self.sizes());
  if (self.dim() > 0) {
    expected[dim] = length;
  }
  TORCH_CHECK(source.sizes() == IntArrayRef(expected) || self.dim() == 0,
              "source tensor shape must match self tensor shape, excluding ",
              "the specified dimension. Got self.shape = ", self.sizes(), " source.shape = ", source.sizes());
  start_from(self, out);
  assert_no_internal_overlap(out);
  assert_no_overlap(out, source);
  if (source.numel() == 0) {
    return;
  }
  const Tensor read = alpha.equal(1) ? source : at::mul(source, detail::wrapped_scalar_tensor(alpha));
  const Tensor places = index_along(at::to(index, kLong), dim, out.dim());
  index_put_stub(self.device().type(), restride_dim(out, dim, expected), at::reshape(read, expected), places,
                 rule_for(out, dim, IndexRule::Use::Select), /*accumulate=*/true);
}

// Broadcasts, then gathers.
static Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  TORCH_CHECK(indices.scalar_type() == kLong, "torch.take_along_dim(): dtype of indices should be Long but got ",
              indices.scalar_type());
  if (!dim.has_value()) {
    return at::gather(at::reshape(self, {-1}), 0, at::reshape(indices, {-1}));
  }
  TORCH_CHECK(self.dim() == indices.dim(),
              "torch.take_along_dim(): input and indices should have the same number of dimensions, ", "but got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = maybe_wrap_dim(*dim, self.dim());
  DimVector self_sizes(self.sizes()), index_sizes(indices.sizes());
  self_sizes[d] = indices.sizes()[d];
  const DimVector index_shape = infer_size_dimvector(self_sizes, indices.sizes());
  index_sizes[d] = self.sizes()[d];
  const DimVector self_shape = infer_size_dimvector(index_sizes, self.sizes());
  return at::gather(at::expand(self, self_shape), d, at::expand(indices, index_shape));
}

// --- masks -----------------------------------------------------------------------------------------------------------

static void masked_fill_out(const Tensor& self, const Tensor& mask, const Scalar& value, Tensor& out) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_fill_ only supports boolean masks, but got mask with dtype ",
              type_meta_name(mask.scalar_type()));
  if (!is_expandable_to(mask.sizes(), self.sizes())) {
    infer_size_dimvector(mask.sizes(), self.sizes()); // reports shapes that do not broadcast, the mask first
  }
  if (!out.defined()) {
    out = empty_cpu(infer_size_dimvector(self.sizes(), mask.sizes()), self.scalar_type(), self.device());
  }
  auto iter = TensorIteratorConfig().add_output(out, self.scalar_type()).add_input(self).add_input(mask).build();
  masked_fill_stub(iter.device_type(), iter, value);
  iter.cast_outputs();
}

static void masked_fill_tensor_out(const Tensor& self, const Tensor& mask, const Tensor& value, Tensor& out) {
  TORCH_CHECK(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  masked_fill_out(self, mask, value.item(), out);
}

static Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  const DimVector shape = infer_size_dimvector(self.sizes(), mask.sizes());
  return masked_select_stub(self.device().type(), at::expand(self, shape).contiguous(),
                            at::expand(mask, shape).contiguous());
}

// (count, dim), column by column in memory
static Tensor nonzero(const Tensor& self) {
  const Tensor dense = self.contiguous();
  const Tensor coordinates = nonzero_stub(self.device().type(), dense);
  return as_view(coordinates, {coordinates.sizes()[1], coordinates.sizes()[0]},
                 {1, std::max<int64_t>(coordinates.sizes()[1], 1)});
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", TORCH_FN(index), FUNCTION);
  m.def_structured("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
                   TORCH_FN(index_put_out), derive::INPLACE);
  m.def("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", TORCH_FN(gather));
  m.def_structured("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", TORCH_FN(scatter_src_out));
  m.def_structured("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                   TORCH_FN(scatter_value_out));
  m.def_structured("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", TORCH_FN(scatter_add_out));
  m.def("index_select(Tensor self, int dim, Tensor index) -> Tensor", TORCH_FN(index_select));
  m.def_structured("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
                   TORCH_FN(index_add_out));
  m.def_composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", TORCH_FN(take_along_dim));
  m.def_structured("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", TORCH_FN(masked_fill_out),
                   derive::INPLACE);
  m.def_structured("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
                   TORCH_FN(masked_fill_tensor_out), derive::INPLACE);
  m.def("masked_select(Tensor self, Tensor mask) -> Tensor", TORCH_FN(masked_select));
  m.def("nonzero(Tensor self) -> Tensor", TORCH_FN(nonzero));
}

} // namespace reftorch::at::native
