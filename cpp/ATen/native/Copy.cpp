// Mirrors: aten/src/ATen/native/Copy.cpp
//
// A copy may change the dtype, broadcast the source and go from one device to another. This file decides what is
// copied; the kernel of the device does it, also from and to the CPU. Left out: quantized and complex copies.
#include <ATen/native/Copy.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(copy_stub)

// The source may be broadcast; the destination keeps its dtype, shape and strides.
static void copy_impl(Tensor& self, const Tensor& src, bool non_blocking) {
  const bool is_same_data = self.is_same(src) || (self.is_alias_of(src) && self.scalar_type() == src.scalar_type() &&
                                                  self.storage_offset() == src.storage_offset() &&
                                                  self.sizes() == src.sizes() && self.strides() == src.strides());
  if (is_same_data) {
    return;
  }
  if (!is_expandable_to(src.sizes(), self.sizes())) {
    const DimVector shape = infer_size_dimvector(self.sizes(), src.sizes());
    TORCH_CHECK(false, "output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntArrayRef(shape));
  }
  if (self.device().is_meta()) {
    return; // there is no element to write
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!src.device().is_meta(), "Cannot copy out of meta tensor; no data!");
  if (src.scalar_type() == c10::kUInt64) {
    copy_impl(self, cast_to_dtype(src, self.scalar_type()), non_blocking);
    return;
  }
  Tensor source = src;
  if (src.sizes() != self.sizes()) {
    // The overlap is looked at before the source is expanded: an expanded source is not dense, and assert_no_overlap
    // gives no answer for memory that is not dense.
    assert_no_internal_overlap(self);
    assert_no_partial_overlap(self, src);
    source = at::expand(src, self.sizes());
  }
  auto iter = TensorIteratorConfig()
                  .add_output(self, self.scalar_type())
                  .add_input(source)
                  .no_resize_outputs(true)
                  .allow_several_devices(true)
                  .build();
  copy_stub(iter.device_type(), iter, non_blocking);
}

static Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  copy_impl(self, src, non_blocking);
  return self;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", TORCH_FN(copy_),
        kernels(copy_stub), tags(Tag::numbers_as_tensors, Tag::overwrites), variants::METHOD);
}

} // namespace reftorch::at::native
