// Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp
//
// x[indices], x[indices] = values, and the coordinates of nonzero elements. Ops with one index tensor for one dimension
// are in ScatterGatherOps.cpp and IndexAlongDim.cpp, masks in MaskedOps.cpp. Left out: sparse gradients.
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

DEFINE_DISPATCH(index_stub)
DEFINE_DISPATCH(index_rows_stub)
DEFINE_DISPATCH(index_put_stub)
DEFINE_DISPATCH(nonzero_stub)
DEFINE_DISPATCH(check_bounds_stub)
DEFINE_DISPATCH(add_offsets_stub)

// --- x[indices], x[indices] = values ---------------------------------------------------------------------------------

// Whether each row has the strides of a fresh tensor, also in dimensions of size 1: the result takes over these
// strides.
static bool has_plain_rows(const Tensor& self) {
  int64_t expected = 1;
  for (int64_t d = self.dim() - 1; d > 0; expected *= self.sizes()[d--]) {
    if (self.strides()[d] != expected) {
      return false;
    }
  }
  return self.is_contiguous();
}

static Tensor index(const Tensor& self, TensorList indices) {
  if (indices.size() == 1 && indices[0].defined() && indices[0].scalar_type() == kLong && self.dim() > 0 &&
      has_plain_rows(self) && indices[0].is_contiguous() && self.numel() > 0 && indices[0].device() == self.device()) {
    DimVector shape(indices[0].sizes());
    shape.append(self.sizes().begin() + 1, self.sizes().end());
    const Tensor result = detail::empty_generic(shape, self.scalar_type(), self.device());
    index_rows_stub(self.device().type(), result, self, indices[0], IndexRule::Use::Subscript);
    return result;
  }
  if (indices.size() == 1 && indices[0].defined() && indices[0].scalar_type() == kBool &&
      indices[0].sizes() == self.sizes() && self.dim() > 0 && indices[0].device() == self.device()) {
    return at::masked_select(self, indices[0]);
  }
  const AdvancedIndex info(self, indices);
  const Tensor result = info.empty_result();
  index_stub(self.device().type(), result, info.view, info.offsets(), info.rule);
  return result;
}

// Returns whether indices and values say x[mask] = number, for which PyTorch calls masked_fill_. Raises RuntimeError
// for a uint8 mask, as masked_fill_ does; indexing otherwise accepts such masks.
static bool check_masked_fill(TensorList indices, const Tensor& values) {
  const auto is_given = [](const Tensor& index) { return index.defined(); };
  const auto mask = std::find_if(indices.begin(), indices.end(), is_given);
  if (values.numel() != 1 || std::count_if(indices.begin(), indices.end(), is_given) != 1) {
    return false;
  }
  TORCH_CHECK(mask->scalar_type() != kByte,
              "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char");
  return mask->scalar_type() == kBool;
}

// Returns the mask of x[mask] = number, given the dimensions of self, if nothing else is indexed: masked_fill can then
// use the mask itself, and no coordinates have to be computed. Returns an undefined tensor otherwise, and where an
// error has to be raised.
static Tensor mask_to_fill(const Tensor& self, TensorList indices, const Tensor& values) {
  if (indices.size() != 1 || values.numel() != 1 || values.scalar_type() != self.scalar_type()) {
    return Tensor();
  }
  Tensor mask = indices[0];
  const bool fits = mask.defined() && mask.scalar_type() == kBool && mask.device() == self.device() && mask.dim() > 0 &&
                    mask.dim() <= self.dim() &&
                    std::equal(mask.sizes().begin(), mask.sizes().end(), self.sizes().begin());
  if (!fits) {
    return Tensor();
  }
  while (mask.dim() < self.dim()) {
    mask = at::unsqueeze(mask, -1);
  }
  return mask;
}

// out = self, then out[indices] = values; with `accumulate`, out[indices] += values.
static void index_put_out(const Tensor& self, TensorList indices, const Tensor& given_values, bool accumulate,
                          Tensor& out) {
  TORCH_CHECK(given_values.device() == self.device() || given_values.dim() == 0,
              "Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ",
              given_values.device(), "!");
  const Tensor values = on_device_of(self, given_values);
  const bool fills = !accumulate && check_masked_fill(indices, values);
  start_from(self, out, MemoryFormat::Preserve);
  const bool expanded = warn_of_internal_overlap(out, "index_put_", "tensor[indices] = tensor");
  if (!fills) {
    assert_no_overlap(out, values);
    for (const Tensor& index : indices) {
      if (index.defined()) {
        assert_no_overlap(out, index);
      }
    }
  }
  const bool by_mask = !accumulate && !expanded;
  if (const Tensor mask = by_mask ? mask_to_fill(out, indices, values) : Tensor(); mask.defined()) {
    auto iter = TensorIteratorConfig().add_output(out, out.scalar_type()).add_input(out).add_input(mask).build();
    return masked_fill_stub(iter.device_type(), iter, number_for_kernel(values));
  }
  const AdvancedIndex info(out, indices);
  TORCH_CHECK(is_expandable_to(values.sizes(), info.shape), "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", IntArrayRef(info.shape));
  TORCH_CHECK(self.scalar_type() == values.scalar_type(),
              "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
              " for the destination and ", values.scalar_type(), " for the source.");
  const Tensor source = values.is_alias_of(out) ? at::clone(values) : values;
  index_put_stub(self.device().type(), info.view, at::expand(source, info.shape), info.offsets(), info.rule,
                 accumulate ? ReductionType::SUM : ReductionType::REPLACE);
}

// --- where elements are not zero -------------------------------------------------------------------------------------

// The result has the shape (count, dim) and lies in memory column by column.
static void nonzero_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == kLong,
              "nonzero: Expected out tensor to have scalar type Long but got scalar type", out.scalar_type());
  const Tensor dense = self.contiguous();
  const Tensor coordinates = nonzero_stub(self.device().type(), dense);
  const Tensor result =
      as_view(coordinates, {coordinates.sizes()[1], coordinates.sizes()[0]}, {1, coordinates.sizes()[1]});
  if (!out.defined()) {
    out = result;
    return;
  }
  assert_no_internal_overlap(out);
  assert_no_overlap(out, self);
  if (resize_output(out, result.sizes())) {
    out.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides(), out.storage_offset());
  }
  at::copy_(out, result);
}

// nonzero with a fixed number of rows: surplus rows are cut off, missing rows are filled with `fill_value`.
static Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  Tensor result = detail::empty_generic({size, self.dim()}, kLong, self.device());
  fill_impl(result, fill_value);
  if (self.device().is_meta()) {
    return result;
  }
  const Tensor coordinates = at::nonzero(self);
  const int64_t found = std::min(size, coordinates.sizes()[0]);
  Tensor head = at::narrow(result, 0, 0, found);
  at::copy_(head, at::narrow(coordinates, 0, 0, found));
  return result;
}

static Tensor& nonzero_static_out(const Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == kLong, "nonzero_static: Expected out tensor to have scalar type Long");
  const Tensor result = native::nonzero_static(self, size, fill_value);
  resize_output(out, result.sizes());
  return at::copy_(out, result);
}

// Returns one vector of coordinates for each dimension; a 0-dim tensor counts as a vector of one element.
static std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  const Tensor coordinates = at::nonzero(self.dim() == 0 ? at::reshape(self, {1}) : self);
  std::vector<Tensor> result;
  for (int64_t d = 0; d < coordinates.sizes()[1]; d++) {
    result.push_back(at::select(coordinates, 1, d));
  }
  return result;
}

static Tensor argwhere(const Tensor& self) {
  return at::nonzero(self);
}

static std::vector<Tensor> where_nonzero(const Tensor& condition) {
  return nonzero_numpy(condition);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", TORCH_FN(index),
        kernels(index_rows_stub, index_stub, add_offsets_stub, zero_stub),
        tags(Tag::dynamic_output_shape, Tag::no_device_check), FUNCTION);
  m.def_structured("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
                   TORCH_FN(index_put_out), kernels(index_put_stub, masked_fill_stub, add_offsets_stub, zero_stub),
                   tags(Tag::no_device_check), derive::INPLACE);
  m.def_structured("nonzero(Tensor self) -> Tensor", TORCH_FN(nonzero_out), kernels(nonzero_stub),
                   tags(Tag::dynamic_output_shape), derive::OUT);
  m.def("nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", TORCH_FN(nonzero_static),
        kernels(fill_stub, zero_stub));
  m.def("nonzero_static.out(Tensor self, *, int size, int fill_value=-1, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(nonzero_static_out), kernels(fill_stub, zero_stub), FUNCTION);
  m.def_composite("nonzero_numpy(Tensor self) -> Tensor[]", TORCH_FN(nonzero_numpy));
  m.def_composite("argwhere(Tensor self) -> Tensor", TORCH_FN(argwhere), tags(Tag::dynamic_output_shape));
  m.def_composite("where(Tensor condition) -> Tensor[]", TORCH_FN(where_nonzero), FUNCTION);
}

} // namespace reftorch::at::native
