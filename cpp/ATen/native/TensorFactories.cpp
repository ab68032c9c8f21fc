// Mirrors: aten/src/ATen/native/TensorFactories.cpp
//
// Makes tensors from nothing, or with the shape of another tensor. Left out: names, window functions, from_file. Random
// factories are in Distributions.cpp, arange and linspace in RangeFactories.cpp, index grids in IndexFactories.cpp.
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

void check_out_dtype(const OptionalType& dtype, const Tensor& out) {
  TORCH_CHECK(!dtype.has_value() || *dtype == out.scalar_type(), "dtype ", *dtype,
              " does not match dtype of out parameter (", out.scalar_type(), ")");
}

Tensor empty_impl(IntArrayRef size, OptionalType dtype, OptionalDevice device, OptionalBool pin_memory,
                  OptionalFormat format) {
  const ScalarType type = dtype_or_default(dtype);
  const Device where = device.value_or(Device());
  const bool pinned = pin_memory.value_or(false);
  const MemoryFormat order = format.value_or(MemoryFormat::Contiguous);
  TORCH_CHECK(order != MemoryFormat::Preserve, "unsupported memory format Preserve",
              ": there is no tensor to take the order from");
  if (order == MemoryFormat::ChannelsLast) {
    return detail::empty_strided_generic(size, detail::channels_last_strides(size), type, where, pinned);
  }
  return detail::empty_generic(size, type, where, pinned);
}

Tensor empty_like_impl(const Tensor& self, OptionalType dtype, OptionalDevice device, OptionalBool pin_memory,
                       OptionalFormat format) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  const Device where = device.value_or(self.device());
  const MemoryFormat order = format.value_or(MemoryFormat::Preserve);
  if (order != MemoryFormat::Preserve) {
    return empty_impl(self.sizes(), type, where, pin_memory, order);
  }
  const bool pinned = pin_memory.value_or(false);
  if (self.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    return detail::empty_strided_generic(self.sizes(), self.strides(), type, where, pinned);
  }
  return detail::empty_strided_generic(self.sizes(), detail::infer_dense_strides(self.sizes(), self.strides()), type,
                                       where, pinned);
}

Tensor pinned_if(const OptionalBool& pin_memory, const Tensor& t) {
  if (!pin_memory.value_or(false)) {
    return t;
  }
  Tensor pinned = empty_like_impl(t, std::nullopt, std::nullopt, pin_memory);
  return at::copy_(pinned, t);
}

// Every uninitialized tensor that a user gets goes through here: in deterministic mode it is filled.
static Tensor uninitialized(Tensor t) {
  detail::fill_uninitialized(t);
  return t;
}

static Tensor empty(IntArrayRef size, OptionalType dtype, OptionalLayout, OptionalDevice device,
                    OptionalBool pin_memory, OptionalFormat format) {
  return uninitialized(empty_impl(size, dtype, device, pin_memory, format));
}

static Tensor& empty_out(IntArrayRef size, OptionalType dtype, OptionalLayout, OptionalDevice, OptionalBool,
                         OptionalFormat, Tensor& out) {
  check_out_dtype(dtype, out);
  resize_output(out, size);
  return out;
}

// `physical_layout` gives the order of the dimensions in memory, the outermost first.
static Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, OptionalType dtype, OptionalLayout,
                             OptionalDevice device, OptionalBool pin_memory) {
  const size_t dims = size.size();
  TORCH_CHECK(physical_layout.size() == dims, "Number of dimensions in size does not match the length of the ",
              "physical_layout; i.e. len(size) = ", dims,
              " is not equal to len(physical_layout) = ", physical_layout.size());
  DimVector strides(dims, -1);
  int64_t step = 1;
  for (size_t i = dims; i-- > 0;) {
    const int64_t dim = physical_layout[i];
    TORCH_CHECK(0 <= dim && dim < static_cast<int64_t>(dims), "Dimension out of range (expected to be between 0 and ",
                dims - 1, ", but got ", dim, " at index ", i, ").  NB: negative dims are not currently supported; ",
                "file an issue if you want it.");
    TORCH_CHECK(strides[dim] < 0, "Duplicate dim not allowed");
    strides[dim] = step;
    step *= std::max<int64_t>(size[dim], 1);
  }
  return uninitialized(detail::empty_strided_generic(size, strides, dtype_or_default(dtype), device.value_or(Device()),
                                                     pin_memory.value_or(false)));
}

static Tensor empty_strided(IntArrayRef size, IntArrayRef stride, OptionalType dtype, OptionalLayout,
                            OptionalDevice device, OptionalBool pin_memory) {
  TORCH_CHECK(size.size() == stride.size(), "dimensionality of sizes (", size.size(),
              ") must match dimensionality of strides (", stride.size(), ")");
  // A negative stride is allowed where the stride is never used: in an empty tensor or in a dimension of size 1. Such a
  // stride is replaced by the stride of a contiguous tensor.
  const bool none = std::find(size.begin(), size.end(), 0) != size.end();
  DimVector steps(stride);
  for (size_t d = steps.size(); d-- > 0;) {
    TORCH_CHECK(steps[d] >= 0 || none || size[d] <= 1, "Storage size calculation overflowed with sizes=", size,
                " and strides=", stride);
    if (steps[d] < 0) {
      steps[d] = d + 1 == steps.size() ? 1 : std::max<int64_t>(size[d + 1], 1) * steps[d + 1];
    }
  }
  return uninitialized(detail::empty_strided_generic(size, steps, dtype_or_default(dtype), device.value_or(Device()),
                                                     pin_memory.value_or(false)));
}

static Tensor empty_like(const Tensor& self, OptionalType dtype, OptionalLayout, OptionalDevice device,
                         OptionalBool pin_memory, OptionalFormat format) {
  return uninitialized(empty_like_impl(self, dtype, device, pin_memory, format));
}

// --- filled with one value -------------------------------------------------------------------------------------------

static Tensor filled(Tensor t, const Scalar& value) {
  fill_impl(t, value);
  return t;
}

static Tensor zeroed(Tensor t) {
  zero_impl(t);
  return t;
}

static Tensor zeros(IntArrayRef size, OptionalType dtype, OptionalLayout, OptionalDevice device,
                    OptionalBool pin_memory) {
  for (int64_t length : size) {
    TORCH_CHECK(length >= 0, "zeros: Dimension size must be non-negative.");
  }
  return zeroed(empty_impl(size, dtype, device, pin_memory));
}

static Tensor ones(IntArrayRef size, OptionalType dtype, OptionalLayout, OptionalDevice device,
                   OptionalBool pin_memory) {
  return filled(empty_impl(size, dtype, device, pin_memory), 1);
}

static Tensor& full_out(IntArrayRef size, const Scalar& fill_value, OptionalType dtype, OptionalLayout, OptionalDevice,
                        OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  at::resize_(out, size); // other ops warn where they resize an `out` that has elements; this one does not
  fill_impl(out, fill_value);
  return out;
}

static Tensor& zeros_out(IntArrayRef size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                         OptionalBool pin_memory, Tensor& out) {
  return full_out(size, 0, dtype, layout, device, pin_memory, out);
}

static Tensor& ones_out(IntArrayRef size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                        OptionalBool pin_memory, Tensor& out) {
  return full_out(size, 1, dtype, layout, device, pin_memory, out);
}

// Without a dtype, the kind of the number decides: bool, int64, or the default float dtype.
static Tensor full(IntArrayRef size, const Scalar& fill_value, OptionalType dtype, OptionalLayout,
                   OptionalDevice device, OptionalBool pin_memory) {
  if (!dtype.has_value() && !fill_value.isFloatingPoint()) {
    dtype = fill_value.isBoolean() ? kBool : kLong;
  }
  return filled(empty_impl(size, dtype, device, pin_memory), fill_value);
}

static Tensor scalar_tensor(const Scalar& s, OptionalType dtype, OptionalLayout, OptionalDevice device,
                            OptionalBool pin_memory) {
  return filled(empty_impl({}, dtype, device, pin_memory), s);
}

static Tensor zeros_like(const Tensor& self, OptionalType dtype, OptionalLayout, OptionalDevice device,
                         OptionalBool pin_memory, OptionalFormat format) {
  return zeroed(empty_like_impl(self, dtype, device, pin_memory, format));
}

static Tensor ones_like(const Tensor& self, OptionalType dtype, OptionalLayout, OptionalDevice device,
                        OptionalBool pin_memory, OptionalFormat format) {
  return filled(empty_like_impl(self, dtype, device, pin_memory, format), 1);
}

static Tensor full_like(const Tensor& self, const Scalar& fill_value, OptionalType dtype, OptionalLayout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  return filled(empty_like_impl(self, dtype, device, pin_memory, format), fill_value);
}

// --- methods: another shape, self's dtype and device -----------------------------------------------------------------

static Tensor new_empty(const Tensor& self, IntArrayRef size, OptionalType dtype, OptionalLayout, OptionalDevice device,
                        OptionalBool pin_memory) {
  return uninitialized(
      empty_impl(size, dtype.value_or(self.scalar_type()), device.value_or(self.device()), pin_memory));
}

static Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, OptionalType dtype,
                                OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return empty_strided(size, stride, dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()),
                       pin_memory);
}

static Tensor new_zeros(const Tensor& self, IntArrayRef size, OptionalType dtype, OptionalLayout layout,
                        OptionalDevice device, OptionalBool pin_memory) {
  return zeroed(new_empty(self, size, dtype, layout, device, pin_memory));
}

static Tensor new_ones(const Tensor& self, IntArrayRef size, OptionalType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  return filled(new_empty(self, size, dtype, layout, device, pin_memory), 1);
}

static Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value, OptionalType dtype,
                       OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return filled(new_empty(self, size, dtype, layout, device, pin_memory), fill_value);
}

// --- the identity matrix ---------------------------------------------------------------------------------------------

static Tensor& eye_m_out(int64_t n, int64_t m, OptionalType dtype, OptionalLayout, OptionalDevice, OptionalBool,
                         Tensor& out) {
  check_out_dtype(dtype, out);
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  resize_output(out, {n, m});
  zero_impl(out);
  Tensor diagonal = detail::alias_with_sizes_and_strides(out, std::min(n, m), out.strides()[0] + out.strides()[1],
                                                         out.storage_offset());
  fill_impl(diagonal, 1);
  return out;
}

static Tensor& eye_out(int64_t n, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                       OptionalBool pin_memory, Tensor& out) {
  return eye_m_out(n, n, dtype, layout, device, pin_memory, out);
}

static Tensor eye_m(int64_t n, int64_t m, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                    OptionalBool pin_memory) {
  Tensor result = empty_impl({0, 0}, dtype, device, pin_memory);
  return eye_m_out(n, m, dtype, layout, device, pin_memory, result);
}

static Tensor eye(int64_t n, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                  OptionalBool pin_memory) {
  return eye_m(n, n, dtype, layout, device, pin_memory);
}

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, METHOD = variants::METHOD;
  m.def("empty(int[] size, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", TORCH_FN(empty),
        tags(Tag::uninitialized), FUNCTION);
  m.def("empty_strided(int[] size, int[] stride, *, " OPTIONS ") -> Tensor", TORCH_FN(empty_strided),
        tags(Tag::uninitialized), FUNCTION);
  m.def("empty_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", TORCH_FN(empty_like),
        tags(Tag::uninitialized), FUNCTION);
  m.def("zeros(int[] size, *, " OPTIONS ") -> Tensor", TORCH_FN(zeros), kernels(fill_stub, zero_stub), FUNCTION);
  m.def("ones(int[] size, *, " OPTIONS ") -> Tensor", TORCH_FN(ones), kernels(fill_stub, zero_stub), FUNCTION);
  m.def("full(int[] size, Scalar fill_value, *, " OPTIONS ") -> Tensor", TORCH_FN(full), kernels(fill_stub, zero_stub),
        FUNCTION);
  m.def("scalar_tensor(Scalar s, *, " OPTIONS ") -> Tensor", TORCH_FN(scalar_tensor), kernels(fill_stub, zero_stub),
        FUNCTION);
  m.def("zeros_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", TORCH_FN(zeros_like),
        kernels(fill_stub, zero_stub), FUNCTION);
  m.def("ones_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", TORCH_FN(ones_like),
        kernels(fill_stub, zero_stub), FUNCTION);
  m.def("full_like(Tensor self, Scalar fill_value, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
        TORCH_FN(full_like), kernels(fill_stub, zero_stub), FUNCTION);
  m.def("new_empty(Tensor self, int[] size, *, " OPTIONS ") -> Tensor", TORCH_FN(new_empty), tags(Tag::uninitialized),
        METHOD);
  m.def("new_empty_strided(Tensor self, int[] size, int[] stride, *, " OPTIONS ") -> Tensor",
        TORCH_FN(new_empty_strided), tags(Tag::uninitialized), METHOD);
  m.def("new_zeros(Tensor self, int[] size, *, " OPTIONS ") -> Tensor", TORCH_FN(new_zeros),
        kernels(fill_stub, zero_stub), METHOD);
  m.def("new_ones(Tensor self, int[] size, *, " OPTIONS ") -> Tensor", TORCH_FN(new_ones),
        kernels(fill_stub, zero_stub), METHOD);
  m.def("new_full(Tensor self, int[] size, Scalar fill_value, *, " OPTIONS ") -> Tensor", TORCH_FN(new_full),
        kernels(fill_stub, zero_stub), METHOD);
  m.def("eye(SymInt n, *, " OPTIONS ") -> Tensor", TORCH_FN(eye), kernels(fill_stub, zero_stub), FUNCTION);
  m.def("eye.m(SymInt n, SymInt m, *, " OPTIONS ") -> Tensor", TORCH_FN(eye_m), kernels(fill_stub, zero_stub),
        FUNCTION);

  m.def_out("empty", TORCH_FN(empty_out));
  m.def("empty_permuted(int[] size, int[] physical_layout, *, " OPTIONS ") -> Tensor", TORCH_FN(empty_permuted),
        tags(Tag::uninitialized), FUNCTION);
  m.def_out("zeros", TORCH_FN(zeros_out), kernels(fill_stub, zero_stub));
  m.def_out("ones", TORCH_FN(ones_out), kernels(fill_stub, zero_stub));
  m.def_out("full", TORCH_FN(full_out), kernels(fill_stub, zero_stub));
  m.def_out("eye", TORCH_FN(eye_out), kernels(fill_stub, zero_stub));
  m.def_out("eye.m", TORCH_FN(eye_m_out), kernels(fill_stub, zero_stub));
}

} // namespace reftorch::at::native
