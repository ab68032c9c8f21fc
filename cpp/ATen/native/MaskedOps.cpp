// Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (masked_fill, masked_select, masked_scatter)
//
// Ops on the elements of a tensor that a bool mask selects.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>
#include <ATen/native/TypeMetaName.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(masked_fill_stub)
DEFINE_DISPATCH(masked_select_stub)
DEFINE_DISPATCH(masked_scatter_stub)

// Fills an expanded tensor. An element in memory that stands for several elements of the tensor is filled if the mask
// is true for any of them.
static void masked_fill_expanded(const Tensor& out, const Tensor& mask, const Scalar& value) {
  DimVector repeated, sizes(out.sizes());
  for (int64_t d = 0; d < out.dim(); d++) {
    if (out.strides()[d] == 0 && sizes[d] > 1) {
      repeated.push_back(d);
      sizes[d] = 1;
    }
  }
  Tensor dense = detail::alias_with_sizes_and_strides(out, sizes, out.strides(), out.storage_offset());
  const Tensor any = at::any(at::expand(mask, out.sizes()), IntArrayRef(repeated), /*keepdim=*/true);
  auto iter = TensorIteratorConfig().add_output(dense, dense.scalar_type()).add_input(dense).add_input(any).build();
  masked_fill_stub(iter.device_type(), iter, value);
}

static void masked_fill_out(const Tensor& self, const Tensor& mask, const Scalar& value, Tensor& out) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_fill_ only supports boolean masks, but got mask with dtype ",
              type_meta_name(mask.scalar_type()));
  if (!is_expandable_to(mask.sizes(), self.sizes())) {
    infer_size_dimvector(mask.sizes(), self.sizes()); // raises and names both shapes, that of the mask first
  }
  // the loop below cannot write overlapping elements
  if (out.defined() && out.is_same(self) && has_internal_overlap(out)) {
    Tensor number = detail::empty_generic({}, self.scalar_type(), self.device());
    fill_impl(number, value);
    at::index_put_(out, {at::expand(mask, self.sizes())}, number);
    return;
  }
  if (!out.defined()) {
    out = empty_impl(infer_size_dimvector(self.sizes(), mask.sizes()), self.scalar_type(), self.device());
  } else if (warn_of_internal_overlap(out, "masked_fill_", "tensor[mask] = scalar") &&
             is_expandable_to(mask.sizes(), out.sizes())) {
    return masked_fill_expanded(out, mask, value);
  }
  auto iter = TensorIteratorConfig().add_output(out, self.scalar_type()).add_input(self).add_input(mask).build();
  masked_fill_stub(iter.device_type(), iter, value);
  iter.cast_outputs();
}

static void masked_fill_tensor_out(const Tensor& self, const Tensor& mask, const Tensor& value, Tensor& out) {
  TORCH_CHECK(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  masked_fill_out(self, mask, number_for_kernel(value), out);
}

static void masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  if (out.defined()) {
    assert_no_internal_overlap(out);
    assert_no_overlap(out, self);
    assert_no_overlap(out, mask);
  }
  const DimVector shape = infer_size_dimvector(self.sizes(), mask.sizes());
  const Tensor result = masked_select_stub(self.device().type(), at::expand(self, shape).contiguous(),
                                           at::expand(mask, shape).contiguous());
  if (out.defined()) {
    resize_output(out, result.sizes());
    at::copy_(out, result);
  } else {
    out = result;
  }
}

// out = self; then the elements where the mask is true are overwritten with the elements of source, in order.
static void masked_scatter_out(const Tensor& self, const Tensor& mask, const Tensor& source, Tensor& out) {
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter: expected self and source to have same dtypes but got", self.scalar_type(), " and ",
              source.scalar_type());
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  const DimVector shape =
      infer_size_dimvector(out.defined() ? mask.sizes() : self.sizes(), out.defined() ? self.sizes() : mask.sizes());
  if (out.defined()) { // in place
    TORCH_CHECK(self.sizes() == IntArrayRef(shape), "output with shape ", self.sizes(),
                " doesn't match the broadcast shape ", IntArrayRef(shape));
    assert_no_internal_overlap(out);
  }
  // The kernel writes to `out` itself if `out` is contiguous, else to a dense copy.
  Tensor dense =
      out.defined() && out.is_contiguous() ? out : at::clone(at::expand(self, shape), MemoryFormat::Contiguous);
  masked_scatter_stub(self.device().type(), dense, at::expand(mask, shape).contiguous(), source.contiguous());
  if (!out.defined()) {
    out = dense;
  } else if (!dense.is_same(out)) {
    at::copy_(out, dense);
  }
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", TORCH_FN(masked_fill_out),
                   kernels(fill_stub, zero_stub, masked_fill_stub), tags(Tag::pointwise), derive::INPLACE);
  m.def_structured("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
                   TORCH_FN(masked_fill_tensor_out), kernels(fill_stub, zero_stub, masked_fill_stub), derive::INPLACE);
  m.def_structured("masked_select(Tensor self, Tensor mask) -> Tensor", TORCH_FN(masked_select_out),
                   kernels(masked_select_stub), tags(Tag::dynamic_output_shape), derive::OUT);
  m.def_structured("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", TORCH_FN(masked_scatter_out),
                   kernels(masked_scatter_stub), derive::INPLACE);
}

} // namespace reftorch::at::native
