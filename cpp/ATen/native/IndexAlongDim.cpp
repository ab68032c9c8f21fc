// Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_select, index_add, index_copy, index_fill, take, put)
//
// Ops with a vector of indices for one dimension, which selects whole slices, and ops whose indices count through the
// flattened tensor.
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
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

namespace reftorch::at::native {

// A vector of indices selects whole slices of `dim`. The index is broadcast along the other dimensions, so that the
// kernels for single elements can be used.
static Tensor index_along(const Tensor& index, int64_t dim, int64_t ndim) {
  DimVector sizes(static_cast<size_t>(ndim), 1), strides(static_cast<size_t>(ndim), 0);
  if (ndim > 0) {
    sizes[dim] = index.numel();
    strides[dim] = index.dim() == 0 ? 1 : index.strides()[0];
  }
  return detail::alias_with_sizes_and_strides(index, sizes, strides, index.storage_offset());
}

static void index_select_out(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(self.dim() > 0 || index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
              index.numel(), " value(s)");
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
              "index_select(): Expected dtype int32 or int64 for index");
  DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    sizes[dim] = index.numel();
  }
  if (out.defined()) {
    TORCH_CHECK(out.scalar_type() == self.scalar_type(),
                "index_select(): self and result must have the same scalar type, but got ", self.scalar_type(), " and ",
                out.scalar_type());
    assert_no_internal_overlap(out);
    assert_no_overlap(out, self);
    assert_no_overlap(out, index);
  }
  prepare_out(out, sizes, self, "index_select");
  // The indices are checked even where no element is read. Along dimension 1 PyTorch checks them first as well, with
  // this message.
  if (self.dim() > 1 && index.numel() > 0 && (self.numel() == 0 || (dim == 1 && out.is_contiguous()))) {
    const int64_t size = self.sizes()[dim];
    TORCH_CHECK(size > 0, "index_select(): self indexing axis dim should be positive");
    check_bounds_stub(index.device().type(), at::to(index, kLong).contiguous(), size, [size](int64_t place) {
      TORCH_CHECK(false, "INDICES element is out of DATA bounds, id=", place, " axis_dim=", size);
    });
  }
  if (out.numel() == 0) {
    return;
  }
  if (dim == 0 && self.dim() > 0 && self.is_contiguous() && out.is_contiguous() && index.is_contiguous()) {
    index_rows_stub(self.device().type(), out, self, at::to(index, kLong), IndexRule::Use::Select);
  } else {
    index_stub(self.device().type(), out, restride_dim(self, dim, sizes),
               index_along(at::to(index, kLong), dim, self.dim()), rule_for(self, dim, IndexRule::Use::Select));
  }
}

// Note [Device check] allows an index on the CPU beside meta tensors. As in PyTorch, index_add and index_copy do not.
static void check_one_device(const char* name, const Tensor& self, const Tensor& index, const Tensor& source) {
  TORCH_CHECK(self.device() == index.device() && self.device() == source.device(), name,
              "(): self, index and source expected to be in the same device, but got (self) ", self.device(),
              ", (index) ", index.device(), ", and (source) ", source.device());
}

// Checks for index_add and index_reduce, which combine source.select(dim, i) into out.select(dim, index[i]).
static void check_index_reduce(const char* name, const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& source, DimVector& expected) {
  TORCH_CHECK_INDEX(index.dim() <= 1, name, "(): Index is supposed to be a vector, but got dim: ", index.dim(),
                    " with type: ", index.scalar_type(), " and size: ", index.sizes());
  check_index_dtype(name, index);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), name, "(): self (", self.scalar_type(), ") and source (",
              source.scalar_type(), ") must have the same scalar type");
  TORCH_CHECK(dim == 0 || dim < source.dim(), name, "(): Indexing dim ", dim,
              " is out of bounds of the source tensor with dim ", source.dim());
  const int64_t length = index.numel() == 1 && source.dim() == 0 ? 1 : source.size(dim);
  TORCH_CHECK(index.numel() == length, name, "(): Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", length, "), for dim: ", dim);
  expected = DimVector(self.sizes());
  if (self.dim() > 0) {
    expected[dim] = length;
  }
  TORCH_CHECK(source.sizes() == IntArrayRef(expected), "source tensor shape must match self tensor shape, excluding ",
              "the specified dimension. Got self.shape = ", self.sizes(), " source.shape = ", source.sizes());
}

static void put_slices(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source, IntArrayRef shape,
                       IndexRule::Use use, ReductionType reduce) {
  index_put_stub(out.device().type(), restride_dim(out, dim, shape), source,
                 index_along(at::to(index, kLong), dim, out.dim()), rule_for(out, dim, use), reduce);
}

static void check_overlaps(const Tensor& out, const Tensor& index, const Tensor& source) {
  assert_no_internal_overlap(out);
  assert_no_overlap(out, index);
  assert_no_overlap(out, source);
}

// out = self. Prepares out for writes at `index` from `source`; neither of the two may overlap with out.
static void start_writing(const Tensor& self, const Tensor& index, const Tensor& source, Tensor& out,
                          MemoryFormat format = MemoryFormat::Contiguous) {
  start_from(self, out, format);
  check_overlaps(out, index, source);
}

// out = self, then out.select(dim, index[i]) += alpha * source.select(dim, i)
static void index_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                          const Scalar& alpha, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  check_one_device("index_add", self, index, source);
  DimVector expected;
  check_index_reduce("index_add_", self, dim, index, source, expected);
  start_writing(self, index, source, out);
  if (source.numel() == 0 || (self.dim() > 1 && self.numel() == 0)) {
    return;
  }
  // alpha is cast to the dtype of source: 1.5 becomes 1 for integers.
  Tensor factor = detail::empty_generic({}, source.scalar_type(), source.device());
  fill_impl(factor, alpha);
  const Tensor read = alpha.equal(1) ? source : at::mul(source, factor);
  // PyTorch calls scatter_add in these cases, whose error for an index out of range has another type.
  const bool as_scatter =
      self.dim() > 1 && alpha.equal(1) && index.scalar_type() == kLong && (dim == 0 || dim == self.dim() - 1);
  put_slices(out, dim, index, read, expected, as_scatter ? IndexRule::Use::Gather : IndexRule::Use::Select,
             ReductionType::SUM);
}

static void index_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             const std::string& reduce, bool include_self, Tensor& out) {
  const bool mean = reduce == "mean";
  TORCH_CHECK(mean || reduce == "prod" || reduce == "amax" || reduce == "amin",
              "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  dim = maybe_wrap_dim(dim, self.dim());
  DimVector expected;
  check_index_reduce("index_reduce_", self, dim, index, source, expected);
  start_writing(self, index, source, out);
  if (source.numel() == 0) {
    const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
    check_bounds_stub(index.device().type(), at::to(index, kLong).contiguous(), size, [size](int64_t) {
      TORCH_CHECK_INDEX(false, "index out of range in self, for a dimension of size ", size);
    });
    return;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!mean || out.scalar_type() != kBool, "\"div_floor_cpu\" not implemented for 'Bool'");
  TORCH_CHECK_NOT_IMPLEMENTED((out.dim() > 1 && include_self) || out.scalar_type() != kBool,
                              "\"index_func_\" not implemented for 'Bool'");
  const ReductionType type = reduction_type(reduce);
  auto number = [&](const Scalar& value) {
    Tensor result = detail::empty_generic({}, out.scalar_type(), out.device());
    fill_impl(result, value);
    return at::expand(result, expected);
  };
  if (!include_self) {
    put_slices(out, dim, index, number(reduction_identity(type, out.scalar_type())), expected, IndexRule::Use::Select,
               ReductionType::REPLACE);
  }
  put_slices(out, dim, index, source, expected, IndexRule::Use::Select, type);
  if (mean) {
    Tensor count = detail::empty_generic(out.sizes(), out.scalar_type(), out.device());
    fill_impl(count, include_self ? 1 : 0);
    put_slices(count, dim, index, number(1), expected, IndexRule::Use::Select, ReductionType::SUM);
    divide_by_count(out, count);
  }
}

// out = self, then out.select(dim, index[i]) = source.select(dim, i)
static void index_copy_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  check_one_device("index_copy", self, index, source);
  if (out.defined() && out.is_same(self)) { // the shapes come second, as in PyTorch
    check_overlaps(out, index, source);
  }
  TORCH_CHECK_INDEX(index.dim() < 2, "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  TORCH_CHECK_INDEX(source.dim() != 0 || index.numel() == 1,
                    "index_copy_(): When source is scalar, index should have one element (got ", index.numel(), ")");
  TORCH_CHECK_INDEX(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
                    "index_copy_(): When source and destination are not scalars, their dimensionality must match. "
                    "Source dimensionality (",
                    source.dim(), "), destination dimensionality (", self.dim(), ")");
  TORCH_CHECK(index.scalar_type() == kLong, "index_copy_(): Expected a long tensor for index, but got ",
              index.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "index_copy_(): self and source expected to have the same dtype, but got (self) ", self.scalar_type(),
              " and (source) ", source.scalar_type());
  DimVector slice(self.sizes()), source_slice(source.sizes());
  if (self.dim() > 0) {
    slice.erase(dim);
  }
  if (source.dim() > 0) {
    source_slice.erase(dim);
  }
  TORCH_CHECK(IntArrayRef(slice) == IntArrayRef(source_slice),
              "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ",
              IntArrayRef(slice), " at dimension ", dim, " and source slice shape: ", IntArrayRef(source_slice),
              " at dimension 0.");
  const int64_t length = source.dim() == 0 ? index.numel() : source.sizes()[dim];
  TORCH_CHECK_INDEX(index.numel() == length, "index_copy_(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim) (", length, ")");
  start_writing(self, index, source, out);
  if (source.numel() == 0) {
    return;
  }
  DimVector shape(self.sizes());
  Tensor places = index, read = source;
  if (self.dim() > 0) {
    shape[dim] = length;
    read = at::reshape(source, shape);
  } else { // if self is a number, the last of the values is kept
    places = at::reshape(at::slice(at::reshape(index, {-1}), 0, length - 1, length), {});
    read = at::reshape(at::slice(at::reshape(source, {-1}), 0, length - 1, length), {});
  }
  put_slices(out, dim, places, read, shape, IndexRule::Use::Copy, ReductionType::REPLACE);
}

// out = self, then out.select(dim, index[i]) = value
static void index_fill_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, Tensor& out) {
  TORCH_CHECK_INDEX(index.scalar_type() == kLong, "index_fill_(): Expected dtype int64 for index.");
  TORCH_CHECK(index.device() == self.device(), "Expected all tensors to be on the same device, but found at least two ",
              "devices, ", self.device(), " and ", index.device(), "!");
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(index.dim() <= 1, "Index has to be a vector/scalar");
  start_from(self, out, MemoryFormat::Preserve);
  warn_of_internal_overlap(out, "index_fill_", "tensor[mask] = scalar");
  assert_no_overlap(out, index);
  // a number counts as a vector of one element
  const Tensor rows = self.dim() == 0 ? as_view(out, int64_t(1), int64_t(1)) : out;
  DimVector shape(rows.sizes());
  shape[dim] = index.numel();
  // Raises where the value overflows the dtype.
  dispatch<AllTypesAndBool>(self.scalar_type(), "index_fill_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    (void)value.to<scalar_t>();
  });
  if (index.numel() > 0 && self.numel() > 0) {
    DimVector slice(shape);
    slice[dim] = 1;
    // dense: a copy of whole slices is the fastest
    Tensor filled = detail::empty_generic(slice, self.scalar_type(), self.device());
    fill_impl(filled, value);
    put_slices(rows, dim, index, at::expand(filled, shape), shape, IndexRule::Use::Fill, ReductionType::REPLACE);
  }
}

static void index_fill_tensor_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value,
                                  Tensor& out) {
  TORCH_CHECK(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  index_fill_out(self, dim, index, number_for_kernel(value), out);
}

// --- places in the flattened tensor ----------------------------------------------------------------------------------

static void take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  TORCH_CHECK(index.scalar_type() == kLong, "take(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  prepare_out(out, index.sizes(), self, "take");
  assert_no_internal_overlap(out);
  assert_no_overlap(out, index);
  assert_no_overlap(out, self);
  if (index.numel() > 0) {
    const Tensor flat = at::reshape(self, {-1});
    index_stub(self.device().type(), out, as_view(flat, index.sizes(), DimVector(index.sizes().size(), 0)), index,
               rule_for(flat, 0, IndexRule::Use::Take));
  }
}

// out = self, then out.view(-1)[index[i]] = source[i]; with `accumulate`, out.view(-1)[index[i]] += source[i].
static void put_out(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate, Tensor& out) {
  if (!accumulate) {
    globalContext().alertNotDeterministic("put_"); // if two values go to one place, either may remain
  }
  TORCH_CHECK(index.scalar_type() == kLong, "put_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ", self.scalar_type(),
              " and source.dtype = ", source.scalar_type());
  TORCH_CHECK_INDEX(source.numel() == index.numel(),
                    "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
                    source.numel(), ", index.numel() = ", index.numel());
  start_writing(self, index, source, out, MemoryFormat::Preserve);
  TORCH_CHECK_INDEX(out.numel() != 0 || index.numel() == 0, "put_(): Expected self to be non-empty");
  if (index.numel() == 0) {
    return;
  }
  Tensor flat = at::reshape(out, {-1}); // a copy if out is not dense
  const Tensor places = at::reshape(index, {-1}), values = at::reshape(source, {-1});
  index_put_stub(out.device().type(), as_view(flat, places.sizes(), int64_t(0)), values, places,
                 rule_for(flat, 0, IndexRule::Use::Take), accumulate ? ReductionType::SUM : ReductionType::REPLACE);
  if (!flat.is_alias_of(out)) {
    at::copy_(out, at::view(flat, out.sizes()));
  }
}

// Broadcasts self and indices, then gathers. With a dim, an index out of range wraps around (index modulo size).
static Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim.has_value()) {
    return at::gather(at::reshape(self, {-1}), 0, at::reshape(indices, {-1}));
  }
  TORCH_CHECK(indices.scalar_type() == kLong, "torch.take_along_dim(): dtype of indices should be Long but got ",
              indices.scalar_type());
  TORCH_CHECK(self.dim() == indices.dim(),
              "torch.take_along_dim(): input and indices should have the same number of dimensions, ", "but got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = maybe_wrap_dim(*dim, self.dim());
  DimVector self_sizes(self.sizes()), index_sizes(indices.sizes());
  self_sizes[d] = indices.sizes()[d];
  const DimVector index_shape = infer_size_dimvector(self_sizes, indices.sizes());
  index_sizes[d] = self.sizes()[d];
  const DimVector self_shape = infer_size_dimvector(index_sizes, self.sizes());
  const Tensor places = indices.numel() == 0 || self.sizes()[d] == 0
                            ? indices
                            : at::remainder(indices, detail::wrapped_scalar_tensor(self.sizes()[d]));
  return at::gather(at::expand(self, self_shape), d, at::expand(places, index_shape));
}

static Tensor& take_along_dim_out(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim, Tensor& out) {
  const Tensor result = take_along_dim(self, indices, dim);
  resize_output(out, result.sizes());
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
              c10::dtypeName(self.scalar_type()), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  return at::copy_(out, result);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("index_select(Tensor self, int dim, Tensor index) -> Tensor", TORCH_FN(index_select_out),
                   kernels(index_rows_stub, index_stub, check_bounds_stub), derive::OUT);
  m.def_structured("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
                   TORCH_FN(index_add_out), kernels(fill_stub, zero_stub, index_put_stub));
  m.def_structured(
      "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
      "Tensor",
      TORCH_FN(index_reduce_out), kernels(check_bounds_stub, fill_stub, zero_stub, index_put_stub));
  m.def_structured("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", TORCH_FN(index_copy_out),
                   kernels(index_put_stub));
  m.def_structured("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                   TORCH_FN(index_fill_out), kernels(fill_stub, zero_stub, index_put_stub), tags(Tag::no_device_check),
                   derive::INPLACE);
  m.def_structured("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                   TORCH_FN(index_fill_tensor_out), kernels(fill_stub, zero_stub, index_put_stub),
                   tags(Tag::no_device_check), derive::INPLACE);
  m.def_structured("take(Tensor self, Tensor index) -> Tensor", TORCH_FN(take_out), kernels(index_stub), derive::OUT);
  m.def_structured("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", TORCH_FN(put_out),
                   kernels(index_put_stub), derive::INPLACE);
  m.def_composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", TORCH_FN(take_along_dim));
  m.def_composite("take_along_dim.out(Tensor self, Tensor indices, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(take_along_dim_out), variants::FUNCTION);
}

} // namespace reftorch::at::native
