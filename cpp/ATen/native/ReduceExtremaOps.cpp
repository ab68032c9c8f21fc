// Mirrors: aten/src/ATen/native/ReduceAllOps.cpp, aten/src/ATen/native/ReduceOps.cpp, aten/src/ATen/native/TensorCompare.cpp
//
// The largest and smallest elements and their positions. NaN counts as more extreme than any number; among equal
// elements the first one is taken. mode and median are in Sorting.cpp.
#include <ATen/native/ReduceOps.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/ReduceOpsUtils.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(max_values_stub)
DEFINE_DISPATCH(min_values_stub)
DEFINE_DISPATCH(max_stub)
DEFINE_DISPATCH(min_stub)

template <auto& stub>
static void extremum_values(const Tensor& self, IntArrayRef dim, bool keepdim, const char* name, Tensor& out) {
  zero_numel_check_dims(self, dim, name);
  ReductionPlan reduction(out, self, dim, keepdim, self.scalar_type(), self.scalar_type());
  if (!reduction.empty()) {
    stub(reduction.iter().device_type(), reduction.iter());
    reduction.finish();
  }
}

static void check_out_dtype(const Tensor& self, const Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "Expected the dtype for input and out to match, but got ", self.scalar_type(), " for input's dtype and ",
              out.scalar_type(), " for out's dtype.");
}

static void max_out(const Tensor& self, Tensor& out) {
  extremum_values<max_values_stub>(self, {}, /*keepdim=*/false, "max", out);
}
static void min_out(const Tensor& self, Tensor& out) {
  extremum_values<min_values_stub>(self, {}, /*keepdim=*/false, "min", out);
}
static void amax_out(const Tensor& self, IntArrayRef dim, bool keepdim, Tensor& out) {
  check_out_dtype(self, out);
  extremum_values<max_values_stub>(self, dim, keepdim, "amax", out);
}
static void amin_out(const Tensor& self, IntArrayRef dim, bool keepdim, Tensor& out) {
  check_out_dtype(self, out);
  extremum_values<min_values_stub>(self, dim, keepdim, "amin", out);
}

// Returns `out` itself if a kernel can write to it as contiguous memory, else a buffer that the caller copies to `out`.
static Tensor output_buffer(Tensor& out, IntArrayRef shape, ScalarType dtype, Device device) {
  if (!out.defined()) {
    out = detail::empty_generic(shape, dtype, device);
    return out;
  }
  resize_output(out, shape);
  return out.is_contiguous() && out.scalar_type() == dtype ? out : detail::empty_generic(shape, dtype, device);
}

static void dim_extremum(DispatchStub<dim_extremum_fn>& stub, const char* name, const Tensor& self, int64_t dim,
                         bool keepdim, Tensor& values, Tensor& indices) {
  dim = maybe_wrap_dim(dim, self.dim());
  zero_numel_check_dims(self, dim, name);
  const DimVector shape = shape_from_dim_mask(self, make_dim_mask(IntArrayRef(dim), self.dim()), keepdim);
  TORCH_CHECK(!values.defined() || values.scalar_type() == self.scalar_type(), name,
              "(): Expected out tensor `values` to have dtype ", c10::dtypeName(self.scalar_type()), ", but got ",
              c10::dtypeName(values.scalar_type()), " instead");
  TORCH_CHECK(!indices.defined() || indices.scalar_type() == kLong, name,
              "(): Expected out tensor `indices` to have dtype int64, but got ", c10::dtypeName(indices.scalar_type()),
              " instead");
  const Tensor value_buffer = output_buffer(values, shape, self.scalar_type(), self.device());
  const Tensor index_buffer = output_buffer(indices, shape, kLong, self.device());
  assert_no_overlap(values, self); // after the results were resized onto the memory that they have now
  assert_no_overlap(indices, self);
  const Tensor source = self.contiguous();
  stub(self.device().type(), value_buffer, index_buffer, source, shape_around(source, dim));
  if (!value_buffer.is_same(values)) {
    at::copy_(values, value_buffer);
  }
  if (!index_buffer.is_same(indices)) {
    at::copy_(indices, index_buffer);
  }
}

static void max_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  dim_extremum(max_stub, "max", self, dim, keepdim, values, indices);
}
static void min_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  dim_extremum(min_stub, "min", self, dim, keepdim, values, indices);
}

// Without a dim, the result is the position in the flattened tensor.
static void arg_extremum(DispatchStub<dim_extremum_fn>& stub, const char* name, const Tensor& self,
                         std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, name, "(): does not support bool input");
  if (dim.has_value()) {
    dim = maybe_wrap_dim(*dim, self.dim());
    zero_numel_check_dims(self, *dim, name);
  } else {
    TORCH_CHECK_INDEX(self.numel() != 0, name, "(): Expected reduction dim to be specified for input.numel() == 0.");
  }
  const DimMask mask = make_dim_mask(dim.has_value() ? IntArrayRef(*dim) : IntArrayRef(), self.dim());
  const DimVector shape = shape_from_dim_mask(self, mask, keepdim);
  TORCH_CHECK(!out.defined() || out.scalar_type() == kLong, "Expected out tensor to have dtype int64, but got ",
              c10::dtypeName(out.scalar_type()), " instead");
  const Tensor indices = output_buffer(out, shape, kLong, self.device());
  const Tensor values = detail::empty_generic(shape, self.scalar_type(), self.device());
  const Tensor source = self.contiguous();
  const DimShape around = dim.has_value() ? shape_around(source, *dim) : DimShape{1, source.numel(), 1};
  stub(self.device().type(), values, indices, source, around);
  if (!indices.is_same(out)) {
    at::copy_(out, indices);
  }
}

static void argmax_out(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  arg_extremum(max_stub, "argmax", self, dim, keepdim, out);
}
static void argmin_out(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  arg_extremum(min_stub, "argmin", self, dim, keepdim, out);
}

static void aminmax_out(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& min, Tensor& max) {
  if (dim.has_value()) {
    const int64_t d = maybe_wrap_dim(*dim, self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, "aminmax: Expected reduction dim ", d,
                      " to have non-zero size.");
  } else {
    TORCH_CHECK(self.numel() > 0, "aminmax(): cannot compute aminmax over an empty dimension as the operation has no ",
                "identity.");
  }
  for (const Tensor& out : {min, max}) {
    check_out_dtype(self, out);
  }
  const int64_t place = dim.value_or(0);
  const IntArrayRef dims = dim.has_value() ? IntArrayRef(place) : IntArrayRef();
  extremum_values<min_values_stub>(self, dims, keepdim, "aminmax", min);
  extremum_values<max_values_stub>(self, dims, keepdim, "aminmax", max);
}

static Tensor max_other(const Tensor& self, const Tensor& other) {
  return at::maximum(self, other);
}
static Tensor& max_other_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::maximum_out(out, self, other);
}
static Tensor min_other(const Tensor& self, const Tensor& other) {
  return at::minimum(self, other);
}
static Tensor& min_other_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::minimum_out(out, self, other);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("max(Tensor self) -> Tensor", TORCH_FN(max_out), kernels(max_values_stub), derive::OUT);
  m.def_structured("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(max_dim_out), kernels(max_stub), derive::OUT);
  m.def_composite("max.other(Tensor self, Tensor other) -> Tensor", TORCH_FN(max_other), tags(Tag::pointwise));
  m.def_composite("max.other_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(max_other_out),
                  variants::FUNCTION);
  m.def_structured("min(Tensor self) -> Tensor", TORCH_FN(min_out), kernels(min_values_stub), derive::OUT);
  m.def_structured("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                   TORCH_FN(min_dim_out), kernels(min_stub), derive::OUT);
  m.def_composite("min.other(Tensor self, Tensor other) -> Tensor", TORCH_FN(min_other), tags(Tag::pointwise));
  m.def_composite("min.other_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(min_other_out),
                  variants::FUNCTION);
  m.def_structured("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", TORCH_FN(amax_out),
                   kernels(max_values_stub), derive::OUT);
  m.def_structured("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", TORCH_FN(amin_out),
                   kernels(min_values_stub), derive::OUT);
  m.def_structured("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
                   TORCH_FN(aminmax_out), kernels(max_values_stub, min_values_stub), derive::OUT);
  m.def_structured("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", TORCH_FN(argmax_out),
                   kernels(max_stub), derive::OUT);
  m.def_structured("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", TORCH_FN(argmin_out),
                   kernels(min_stub), derive::OUT);
}

} // namespace reftorch::at::native
