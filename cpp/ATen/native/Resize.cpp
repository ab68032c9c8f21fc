// Mirrors: aten/src/ATen/native/Resize.cpp
#include <ATen/Resize.h>

#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>

#include <optional>

namespace reftorch::at::native {

// Elements keep their place in the storage; new elements are undefined.
static Tensor& resize_op(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!self.requires_grad() || self.is_inference(), "cannot resize variables that require grad");
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TORCH_CHECK(format != MemoryFormat::Preserve, "Unsupported memory format", "Preserve");
  resize_(self, size);
  if (format == MemoryFormat::ChannelsLast) {
    const DimVector strides = detail::channels_last_strides(size);
    self.unsafeGetTensorImpl()->set_sizes_and_strides(size, strides, self.storage_offset());
  }
  return self;
}

static Tensor& resize_as(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!self.requires_grad() || self.is_inference(), "cannot resize variables that require grad");
  if (memory_format == MemoryFormat::Preserve) {
    memory_format = the_template.is_contiguous() || !the_template.is_contiguous(MemoryFormat::ChannelsLast)
                        ? MemoryFormat::Contiguous
                        : MemoryFormat::ChannelsLast;
  }
  return resize_op(self, the_template.sizes(), memory_format);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)", TORCH_FN(resize_op),
        tags(Tag::inplace_view, Tag::resizes, Tag::uninitialized), variants::METHOD);
  m.def("resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
        TORCH_FN(resize_as), tags(Tag::inplace_view, Tag::resizes, Tag::uninitialized));
}

} // namespace reftorch::at::native
