// Mirrors: aten/src/ATen/native/TensorShape.cpp (cat, stack, repeat)
//
// These ops make a fresh tensor of whole other tensors. Ops composed of cat are in TensorStack.cpp.
#include <ATen/native/TensorJoin.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TensorUtils.h>
#include <ATen/TypePromotion.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

#include <algorithm>

namespace reftorch::at::native {

DEFINE_DISPATCH(cat_serial_stub)

// Whether cat ignores a tensor. An empty vector fits any shape, because older programs start a loop of cat with
// torch.tensor([]).
static bool should_skip(const Tensor& t) {
  return t.numel() == 0 && t.dim() == 1;
}

static void check_cat_shapes(const Tensor& first, const Tensor& t, int64_t dim, size_t position) {
  TORCH_CHECK(first.dim() == t.dim(), "Tensors must have same number of dimensions: got ", first.dim(), " and ",
              t.dim());
  for (int64_t d = 0; d < first.dim(); d++) {
    TORCH_CHECK(d == dim || first.sizes()[d] == t.sizes()[d], "Sizes of tensors must match except in dimension ", dim,
                ". Expected size ", first.sizes()[d], " but got size ", t.sizes()[d], " for tensor number ", position,
                " in the list.");
  }
}

static void cat_dense(TensorList tensors, int64_t dim, const Tensor& out) {
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; d++) {
    outer *= out.sizes()[d];
  }
  if (out.numel() > 0) {
    cat_serial_stub(out.device().type(), out, tensors, outer);
  }
}

// Returns the memory format that all inputs have, so that channels_last inputs give a channels_last result; contiguous
// if the formats differ.
static MemoryFormat cat_memory_format(TensorList tensors) {
  std::optional<MemoryFormat> format;
  for (const Tensor& t : tensors) {
    const MemoryFormat of_this = detail::suggest_memory_format(t);
    if (format.has_value() && *format != of_this) {
      return MemoryFormat::Contiguous;
    }
    format = of_this;
  }
  return format.value_or(MemoryFormat::Contiguous);
}

static Tensor& cat_out(TensorList tensors, int64_t dim, Tensor& out) {
  TORCH_CHECK_VALUE(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  for (size_t i = 0; i < tensors.size(); i++) {
    TORCH_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    if (first == nullptr && !should_skip(tensors[i])) {
      first = &tensors[i];
    }
  }
  const ScalarType dtype = out.defined() ? out.scalar_type() : result_type(tensors);
  DimVector sizes(first == nullptr ? IntArrayRef(int64_t(0)) : first->sizes());
  if (first != nullptr) {
    dim = maybe_wrap_dim(dim, first->dim());
    sizes[dim] = 0;
    for (size_t i = 0; i < tensors.size(); i++) {
      if (!should_skip(tensors[i])) {
        check_cat_shapes(*first, tensors[i], dim, i);
        sizes[dim] += tensors[i].sizes()[dim];
      }
    }
  }
  if (out.defined()) {
    for (const Tensor& t : tensors) {
      TORCH_CHECK_TYPE(c10::canCast(t.scalar_type(), out.scalar_type()),
                       "torch.cat(): input types can't be cast to the desired output type ", out.scalar_type());
    }
    resize_output(out, sizes);
    for (const Tensor& t : tensors) { // after the resize, because a larger result may reach into the memory of a source
      assert_no_overlap(out, t);
    }
  } else {
    out = empty_impl(sizes, dtype, tensors[0].device(), /*pin_memory=*/std::nullopt, cat_memory_format(tensors));
  }
  if (first == nullptr) {
    return out;
  }
  // If the rows have one element, as in stack(..., dim=-1), a strided copy of each tensor is faster.
  const bool dense = out.is_contiguous() && std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
                       return t.is_contiguous() && t.scalar_type() == out.scalar_type() &&
                              (should_skip(t) || dim == 0 || t.sizes()[dim] * t.strides()[dim] > 1);
                     });
  if (dense) {
    cat_dense(tensors, dim, out);
    return out;
  }
  int64_t offset = out.storage_offset();
  for (const Tensor& t : tensors) {
    if (!should_skip(t)) {
      Tensor part = as_view(out, t.sizes(), out.strides(), offset);
      at::copy_(part, t);
      offset += t.sizes()[dim] * out.strides()[dim];
    }
  }
  return out;
}

static Tensor cat(TensorList tensors, int64_t dim) {
  Tensor out;
  return cat_out(tensors, dim, out);
}

// Whether stack can copy the bytes of the tensors as they lie in memory. `ndim` is the number of dimensions of the
// result; a result with four dimensions may have to be channels_last, so it takes the general path.
static bool stacks_as_bytes(TensorList tensors, int64_t ndim, const Tensor& out) {
  return !out.defined() && ndim != 4 && std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
    return t.is_contiguous() && t.scalar_type() == tensors[0].scalar_type();
  });
}

// Gives each tensor a new dimension, and joins the tensors along this dimension.
static Tensor& stack_out(TensorList tensors, int64_t dim, Tensor& out) {
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const int64_t ndim = tensors[0].dim() + 1;
  dim = maybe_wrap_dim(dim, ndim);
  for (size_t i = 1; i < tensors.size(); i++) {
    TORCH_CHECK(tensors[i].sizes() == tensors[0].sizes(), "stack expects each tensor to be equal size, but got ",
                tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  if ((dim + 1 < ndim || ndim == 1) && stacks_as_bytes(tensors, ndim, out)) {
    DimVector sizes(tensors[0].sizes());
    sizes.insert(dim, static_cast<int64_t>(tensors.size()));
    out = detail::empty_generic(sizes, tensors[0].scalar_type(), tensors[0].device());
    cat_dense(tensors, dim, out);
    return out;
  }
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) {
    rows.push_back(at::unsqueeze(t, dim));
  }
  return cat_out(rows, dim, out);
}

static Tensor stack(TensorList tensors, int64_t dim) {
  Tensor out;
  return stack_out(tensors, dim, out);
}

// Views the result with every dimension split into (repeat, size), and then fills this view with one broadcast copy.
static Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const int64_t ndim = static_cast<int64_t>(repeats.size()), leading = ndim - self.dim();
  TORCH_CHECK(leading >= 0,
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  DimVector sizes, split_sizes, split_strides;
  for (int64_t d = 0; d < ndim; d++) {
    const int64_t size = d < leading ? 1 : self.sizes()[d - leading];
    int64_t repeated = 0;
    TORCH_CHECK(!__builtin_mul_overflow(repeats[d], size, &repeated), "repeat: ", repeats[d], " times size ", size,
                " of dimension ", d, " is more than a tensor can hold");
    sizes.push_back(repeated);
    split_sizes.push_back(repeats[d]);
    split_sizes.push_back(size);
    split_strides.push_back(0);
    split_strides.push_back(d < leading ? 0 : self.strides()[d - leading]);
  }
  Tensor result = empty_impl(sizes, self.scalar_type(), self.device());
  Tensor pieces = at::view(result, split_sizes);
  at::copy_(pieces, as_view(self, split_sizes, split_strides));
  return result;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("cat(Tensor[] tensors, int dim=0) -> Tensor", TORCH_FN(cat), kernels(cat_serial_stub), FUNCTION);
  m.def("cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(cat_out),
        kernels(cat_serial_stub), FUNCTION);
  m.def("stack(Tensor[] tensors, int dim=0) -> Tensor", TORCH_FN(stack), kernels(cat_serial_stub), FUNCTION);
  m.def("stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(stack_out),
        kernels(cat_serial_stub), FUNCTION);
  m.def("repeat(Tensor self, int[] repeats) -> Tensor", TORCH_FN(repeat), variants::METHOD);
}

} // namespace reftorch::at::native
