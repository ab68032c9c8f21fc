// Mirrors: aten/src/ATen/native/TensorConversions.cpp, aten/src/ATen/native/TensorProperties.cpp (contiguous)
//
// Ops that change the dtype, the device or the memory order of a tensor. `to` is composite: it returns self where
// nothing changes, and otherwise calls _to_copy, which autograd records. Left out: layouts other than strided, to_dense
// and the like.
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/DeviceGuard.h>

namespace reftorch::at::native {

static Tensor _to_copy(const Tensor& self, OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool,
                       bool non_blocking, OptionalFormat format) {
  // A copy from CUDA to the CPU that nobody waits for needs pinned memory; in any other case none is used, whatever the
  // caller asks for, as in PyTorch.
  const bool pin_out = non_blocking && self.device().is_cuda() && device.value_or(self.device()).is_cpu();
  Tensor result = empty_like_impl(self, dtype, device, pin_out, format);
  at::copy_(result, self, non_blocking);
  return result;
}

static Tensor clone(const Tensor& self, OptionalFormat format) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt, format);
  at::copy_(result, self);
  return result;
}

static Tensor contiguous(const Tensor& self, MemoryFormat format) {
  if (self.is_contiguous(format)) {
    return self;
  }
  TORCH_CHECK(format != MemoryFormat::Preserve, "preserve memory format is unsupported by the contiguous operator");
  return at::clone(self, format);
}

static Tensor to_impl(const Tensor& self, OptionalType dtype, OptionalDevice device, bool non_blocking, bool copy,
                      OptionalFormat format) {
  const MemoryFormat order = format.value_or(MemoryFormat::Preserve);
  if (device.has_value()) {
    device = c10::ensure_has_index(*device); // "cuda" means the current CUDA device, which self may already be on
  }
  const bool same = dtype.value_or(self.scalar_type()) == self.scalar_type() &&
                    device.value_or(self.device()) == self.device() &&
                    (order == MemoryFormat::Preserve || order == detail::suggest_memory_format(self));
  return same && !copy ? self : at::_to_copy(self, dtype, device, non_blocking, order);
}

static Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, OptionalFormat format) {
  return to_impl(self, dtype, std::nullopt, non_blocking, copy, format);
}

static Tensor to_device(const Tensor& self, OptionalDevice device, OptionalType dtype, bool non_blocking, bool copy,
                        OptionalFormat format) {
  return to_impl(self, dtype, device, non_blocking, copy, format);
}

static Tensor to_dtype_layout(const Tensor& self, OptionalType dtype, OptionalLayout, OptionalDevice device,
                              OptionalBool, bool non_blocking, bool copy, OptionalFormat format) {
  return to_impl(self, dtype, device, non_blocking, copy, format);
}

static Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy, OptionalFormat format) {
  return to_impl(self, other.scalar_type(), other.device(), non_blocking, copy, format);
}

static Tensor type_as(const Tensor& self, const Tensor& other) {
  return to_impl(self, other.scalar_type(), other.device(), /*non_blocking=*/false, /*copy=*/false, std::nullopt);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int METHOD = variants::METHOD;
  m.def("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", TORCH_FN(clone), tags(Tag::pointwise));
  m.def_composite("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
                  TORCH_FN(contiguous), METHOD);
  m.def(
      "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, "
      "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
      TORCH_FN(_to_copy), variants::FUNCTION);
  m.def_composite(
      "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)",
      TORCH_FN(to_dtype), METHOD);
  m.def_composite(
      "to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool "
      "copy=False, *, "
      "MemoryFormat? memory_format=None) -> Tensor(a)",
      TORCH_FN(to_device), METHOD);
  m.def_composite(
      "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
      TORCH_FN(to_dtype_layout), METHOD);
  m.def_composite(
      "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)",
      TORCH_FN(to_other), METHOD);
  m.def_composite("type_as(Tensor self, Tensor other) -> Tensor", TORCH_FN(type_as), METHOD);
}

} // namespace reftorch::at::native
