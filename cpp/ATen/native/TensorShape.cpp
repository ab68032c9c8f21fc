// Mirrors: aten/src/ATen/native/TensorShape.cpp
//
// Views that rearrange dimensions: they give the same storage another geometry, and no element moves. Views of a part
// of a tensor are in TensorSlicing.cpp; ops that join tensors are in TensorJoin.cpp. Left out: layouts other than
// strided, names, nested tensors.
#include <ATen/native/TensorShape.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TypeMetaName.h>
#include <c10/core/Geometry.h>

#include <algorithm>
#include <string>

namespace reftorch::at::native {

static Tensor view(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size(size, self.numel());
  const auto strides = detail::computeStride(self.sizes(), self.strides(), sizes);
  TORCH_CHECK(strides.has_value(),
              "view size is not compatible with input tensor's size and stride (at least one dimension spans across ",
              "two contiguous subspaces). Use .reshape(...) instead.");
  return as_view(self, sizes, *strides);
}

// Reads the same bytes as another dtype: the last dimension becomes smaller or larger where the element sizes differ.
static Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  const int64_t from = static_cast<int64_t>(self.itemsize()), to = static_cast<int64_t>(c10::elementSize(dtype));
  DimVector sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  if (from != to) {
    const std::string what = c10::str(" to view ", self.scalar_type(), " as ", dtype, " (different element sizes)");
    TORCH_CHECK(self.dim() > 0, "self.dim() cannot be 0", what);
    TORCH_CHECK(self.stride(-1) == 1, "self.stride(-1) must be 1", what, ", but got ", self.stride(-1));
    const int64_t ratio = std::max(from, to) / std::min(from, to);
    auto rescaled = [&](const std::string& name, int64_t n) {
      TORCH_CHECK(from > to || n % ratio == 0, name, " must be divisible by ", ratio, what, ", but got ", n);
      return from > to ? n * ratio : n / ratio;
    };
    sizes.back() = rescaled("self.size(-1)", sizes.back());
    offset = rescaled("self.storage_offset()", offset);
    for (size_t d = 0; d + 1 < strides.size(); d++) {
      strides[d] = rescaled(c10::str("self.stride(", d, ")"), strides[d]);
    }
  }
  auto impl = c10::make_intrusive<TensorImpl>(self.storage(), self.key_set(), dtype);
  impl->is_inference_ = self.is_inference();
  impl->set_sizes_and_strides(sizes, strides, offset);
  // Autograd does not treat the result as a view, because a gradient cannot flow back through a change of dtype. The
  // two tensors share a version counter, because a write to one changes the other.
  impl->version_counter_.share_with(self.unsafeGetTensorImpl()->version_counter_);
  return Tensor(std::move(impl));
}

// Returns a view of a fresh result. No other code uses `self`, so autograd need not record a view.
static Tensor _unsafe_view(const Tensor& self, IntArrayRef size) {
  return native::view(self, size);
}

// Returns a view if the strides allow one, else a view of a copy.
static Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size(shape, self.numel());
  if (self.is_contiguous() || detail::computeStride(self.sizes(), self.strides(), sizes).has_value()) {
    return at::view(self, sizes);
  }
  return at::_unsafe_view(at::clone(self, MemoryFormat::Contiguous), sizes);
}

static Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                         std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape");
  for (int64_t step : stride) {
    TORCH_CHECK(step >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  c10::check_geometry(size, stride, offset, self.itemsize(), self.storage());
  return as_view(self, size, stride, offset);
}

static Tensor alias(const Tensor& self) {
  return as_view(self, self.sizes(), self.strides());
}

// Constructors such as torch.tensor() call this op with the tensor that they have made of the caller's data, so that a
// mode sees the tensor come into being.
static Tensor lift_fresh(const Tensor& self) {
  return self;
}

// Aligns the shapes at the last dimension: a dimension of size 1 is broadcast with stride 0, and -1 keeps the size.
static Tensor expand(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
  const int64_t ndim = static_cast<int64_t>(size.size()), leading = ndim - self.dim();
  TORCH_CHECK(leading >= 0, "expand(torch.", self.scalar_type(), "Tensor{", self.sizes(), "}, size=", size,
              "): the number of sizes provided (", ndim,
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  DimVector sizes(size), strides(size.size(), 0);
  for (int64_t i = ndim - 1; i >= 0; i--) {
    if (i < leading) {
      TORCH_CHECK(size[i] >= 0, "The expanded size of the tensor (", size[i],
                  ") isn't allowed in a leading, non-existing dimension ", i);
      strides[i] = sizes[i] == 1 && i + 1 < ndim ? sizes[i + 1] * strides[i + 1] : 0;
    } else {
      const int64_t existing = self.sizes()[i - leading];
      sizes[i] = size[i] == -1 ? existing : size[i];
      strides[i] = self.strides()[i - leading];
      if (sizes[i] != existing) {
        TORCH_CHECK(existing == 1, "The expanded size of the tensor (", sizes[i], ") must match the existing size (",
                    existing, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
                    ".  Tensor sizes: ", self.sizes());
        strides[i] = 0;
      }
    }
    TORCH_CHECK(sizes[i] >= 0, "The expanded size of the tensor (", size[i], ") at dimension ", i,
                " is negative; only -1, which keeps a size, may be");
  }
  return as_view(self, sizes, strides);
}

static Tensor expand_as(const Tensor& self, const Tensor& other) {
  return at::expand(self, other.sizes());
}

static Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  return at::expand(self, size);
}

static Tensor view_as(const Tensor& self, const Tensor& other) {
  return at::view(self, other.sizes());
}

static Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return at::reshape(self, other.sizes());
}

// --- order of dimensions ---------------------------------------------------------------------------------------------

static Tensor permute(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(self.dim() == static_cast<int64_t>(dims.size()),
              "permute(sparse_coo): number of dimensions in the tensor input does not ",
              "match the length of the desired ordering of dimensions i.e. input.dim() = ", self.dim(),
              " is not equal to len(dims) = ", dims.size());
  DimVector sizes(dims.size()), strides(dims.size());
  SmallVector<bool, 8> seen(dims.size(), false);
  for (size_t i = 0; i < dims.size(); i++) {
    const int64_t d = maybe_wrap_dim(dims[i], self.dim());
    TORCH_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  return as_view(self, sizes, strides);
}

static Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = maybe_wrap_dim(dim0, self.dim());
  dim1 = maybe_wrap_dim(dim1, self.dim());
  DimVector sizes(self.sizes()), strides(self.strides());
  if (dim0 != dim1) {
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  return as_view(self, sizes, strides);
}

static void check_t(const Tensor& self, const char* name) {
  TORCH_CHECK(self.dim() <= 2, name, " expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
}

static Tensor t(const Tensor& self) {
  check_t(self, "t()");
  return native::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

// --- dimensions of size 1 --------------------------------------------------------------------------------------------

static Tensor unsqueeze(const Tensor& self, int64_t dim) {
  dim = maybe_wrap_dim(dim, self.dim() + 1);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t stride = dim < self.dim() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(dim, 1);
  strides.insert(dim, stride);
  return as_view(self, sizes, strides);
}

// Removes each marked dimension that has size 1.
static Tensor squeeze_marked(const Tensor& self, DimSet marked) {
  DimVector sizes, strides;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (!marked[d] || self.sizes()[d] != 1) {
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  }
  return as_view(self, sizes, strides);
}

static Tensor squeeze(const Tensor& self) {
  return squeeze_marked(self, DimSet::all());
}

static Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  dim = maybe_wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0 && sizes[dim] == 1) {
    sizes.erase(dim);
    strides.erase(dim);
  }
  return as_view(self, sizes, strides);
}

static Tensor squeeze_dims(const Tensor& self, IntArrayRef dims) {
  return squeeze_marked(self, dim_list_to_bitset(dims, self.dim()));
}

// --- in place: the tensor itself takes the geometry of the view ------------------------------------------------------

static Tensor& take_geometry(Tensor& self, const Tensor& view) {
  self.unsafeGetTensorImpl()->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
  return self;
}

static Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return take_geometry(self, native::transpose(self, dim0, dim1));
}
static Tensor& t_(Tensor& self) {
  check_t(self, "t_()");
  return take_geometry(self, native::t(self));
}
static Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  return take_geometry(self, native::unsqueeze(self, dim));
}
static Tensor& squeeze_(Tensor& self) {
  return take_geometry(self, native::squeeze(self));
}
static Tensor& squeeze_dim_(Tensor& self, int64_t dim) {
  return take_geometry(self, squeeze_dim(self, dim));
}
static Tensor& squeeze_dims_(Tensor& self, IntArrayRef dims) {
  return take_geometry(self, squeeze_dims(self, dims));
}

// Makes self use the storage of another tensor, or an empty storage. The storage grows if it is too small.
static Tensor& set_source_tensor(Tensor& self, const Tensor& source, int64_t storage_offset, IntArrayRef size,
                                 IntArrayRef stride) {
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), "Could not set tensor of type ",
              type_meta_name(source.scalar_type()), " to a tensor of type ", type_meta_name(self.scalar_type()));
  TORCH_CHECK(self.device() == source.device(), "set_: expected source on ", self.device(), ", but it is on ",
              source.device());
  TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset);
  TORCH_CHECK(stride.empty() || stride.size() == size.size(), "mismatch in length of strides and shape");
  const DimVector strides = stride.empty() ? detail::contiguous_strides(size) : DimVector(stride);
  const size_t needed = c10::check_geometry(size, strides, storage_offset, self.itemsize());
  maybe_resize_storage(source.storage().storage_impl_.get(), needed);
  self.unsafeGetTensorImpl()->storage_ = source.storage();
  self.unsafeGetTensorImpl()->set_sizes_and_strides(size, strides, storage_offset);
  return self;
}

// The offset counts from the source's first element, not from the start of its storage.
static Tensor& set_source_tensor_offset(Tensor& self, const Tensor& source, int64_t storage_offset, IntArrayRef size,
                                        IntArrayRef stride) {
  TORCH_CHECK(source.is_contiguous(), "passed in tensor to be used as storage must be contiguous");
  TORCH_CHECK(storage_offset >= 0 && !__builtin_add_overflow(storage_offset, source.storage_offset(), &storage_offset),
              "Tensor: invalid storage offset ", storage_offset);
  return set_source_tensor(self, source, storage_offset, size, stride);
}

static Tensor& set_tensor(Tensor& self, const Tensor& source) {
  return self.is_same(source)
             ? self
             : set_source_tensor(self, source, source.storage_offset(), source.sizes(), source.strides());
}

static Tensor& set_nothing(Tensor& self) {
  return set_tensor(self, detail::empty_generic(IntArrayRef(0), self.scalar_type(), self.device()));
}

static bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.is_alias_of(tensor) && self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

static Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return take_geometry(self, native::as_strided(self, size, stride, storage_offset));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int METHOD = variants::METHOD;
  m.def("view(Tensor(a) self, int[] size) -> Tensor(a)", TORCH_FN(view), METHOD);
  m.def("view.dtype(Tensor self, ScalarType dtype) -> Tensor", TORCH_FN(view_dtype), METHOD);
  m.def("_unsafe_view(Tensor self, int[] size) -> Tensor", TORCH_FN(_unsafe_view), variants::FUNCTION);
  m.def_composite("reshape(Tensor(a) self, int[] shape) -> Tensor(a)", TORCH_FN(reshape));
  m.def("as_strided(Tensor(a) self, int[] size, int[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        TORCH_FN(as_strided));
  m.def("alias(Tensor(a) self) -> Tensor(a)", TORCH_FN(alias), variants::FUNCTION);
  m.def("lift_fresh(Tensor(a) self) -> Tensor(a)", TORCH_FN(lift_fresh), variants::FUNCTION);
  m.def("expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)", TORCH_FN(expand), METHOD);
  m.def_composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", TORCH_FN(expand_as), METHOD);
  m.def_composite("broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", TORCH_FN(broadcast_to));
  m.def_composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", TORCH_FN(view_as), METHOD);
  m.def_composite("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", TORCH_FN(reshape_as), METHOD);
  m.def("permute(Tensor(a) self, int[] dims) -> Tensor(a)", TORCH_FN(permute));
  m.def("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", TORCH_FN(transpose));
  m.def("t(Tensor(a) self) -> Tensor(a)", TORCH_FN(t));
  m.def("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", TORCH_FN(unsqueeze));
  m.def("squeeze(Tensor(a) self) -> Tensor(a)", TORCH_FN(squeeze));
  m.def("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", TORCH_FN(squeeze_dim));
  m.def("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", TORCH_FN(squeeze_dims));
  m.def("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", TORCH_FN(transpose_), tags(Tag::inplace_view),
        form_of("transpose.int"), METHOD);
  m.def("t_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(t_), tags(Tag::inplace_view), METHOD);
  m.def("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", TORCH_FN(unsqueeze_), tags(Tag::inplace_view), METHOD);
  m.def("squeeze_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(squeeze_), tags(Tag::inplace_view), METHOD);
  m.def("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", TORCH_FN(squeeze_dim_), tags(Tag::inplace_view),
        METHOD);
  m.def("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", TORCH_FN(squeeze_dims_), tags(Tag::inplace_view),
        METHOD);
  m.def("as_strided_(Tensor(a!) self, int[] size, int[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
        TORCH_FN(as_strided_), tags(Tag::inplace_view));
  m.def("set_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(set_nothing), tags(Tag::inplace_view, Tag::new_storage),
        METHOD);
  m.def("set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)", TORCH_FN(set_tensor),
        tags(Tag::inplace_view, Tag::new_storage), METHOD);
  m.def(
      "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, int[] size, int[] "
      "stride=[]) -> Tensor(a!)",
      TORCH_FN(set_source_tensor_offset), tags(Tag::inplace_view, Tag::new_storage), METHOD);
  m.def("is_set_to(Tensor self, Tensor tensor) -> bool", TORCH_FN(is_set_to), METHOD);
}

} // namespace reftorch::at::native
