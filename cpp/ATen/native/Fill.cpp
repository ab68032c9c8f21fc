// Mirrors: aten/src/ATen/native/Fill.cpp
//
// Left out: quantized tensors.
#include <ATen/native/Fill.h>

#include <ATen/MemoryOverlap.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(fill_stub)
DEFINE_DISPATCH(zero_stub)

void fill_impl(Tensor& self, const Scalar& value) {
  // A broadcast tensor may be filled although its elements share memory: every write stores the same value.
  Tensor dense = self;
  DimVector sizes(self.sizes());
  for (int64_t d = 0; d < self.dim(); d++) {
    if (self.strides()[d] == 0 && sizes[d] > 1) {
      sizes[d] = 1;
    }
  }
  if (IntArrayRef(sizes) != self.sizes()) {
    dense = detail::alias_with_sizes_and_strides(self, sizes, self.strides(), self.storage_offset());
  }
  auto iter = TensorIterator::nullary_op(dense);
  fill_stub(iter.device_type(), iter, value);
}

void zero_impl(const Tensor& self) {
  if (self.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    if (self.numel() > 0) {
      zero_stub(self.device().type(), self);
    }
    return;
  }
  Tensor out = self;
  fill_impl(out, 0);
}

static Tensor& fill_(Tensor& self, const Scalar& value) {
  fill_impl(self, value);
  return self;
}

static Tensor& fill_tensor_(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
              " dimensions.");
  assert_no_internal_overlap(self); // PyTorch copies the tensor, and a copy refuses what fill_ with a number takes
  fill_impl(self, number_for_kernel(value));
  return self;
}

static Tensor fill(const Tensor& self, const Scalar& value) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  fill_impl(result, value);
  return result;
}

static Tensor fill_tensor(const Tensor& self, const Tensor& value) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  return fill_tensor_(result, value);
}

static Tensor& zero_(Tensor& self) {
  zero_impl(self);
  return self;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", TORCH_FN(fill_), kernels(fill_stub),
        tags(Tag::overwrites));
  m.def("fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", TORCH_FN(fill_tensor_), kernels(fill_stub),
        tags(Tag::overwrites));
  m.def("fill.Scalar(Tensor self, Scalar value) -> Tensor", TORCH_FN(fill), kernels(fill_stub), variants::FUNCTION);
  m.def("fill.Tensor(Tensor self, Tensor value) -> Tensor", TORCH_FN(fill_tensor), kernels(fill_stub),
        variants::FUNCTION);
  m.def("zero_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(zero_), kernels(fill_stub, zero_stub), tags(Tag::overwrites));
}

} // namespace reftorch::at::native
