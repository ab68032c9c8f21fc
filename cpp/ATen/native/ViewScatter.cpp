// Mirrors: aten/src/ATen/native/TensorShape.cpp (slice_scatter, select_scatter, diagonal_scatter, as_strided_scatter, narrow_copy), aten/src/ATen/native/Fill.cpp (fill_diagonal_)
//
// Copies a tensor and replaces the part that a view would show: an assignment through a view, but not in place.
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

#include <algorithm>

namespace reftorch::at::native {

// Copies self with its strides and all its memory; a tensor whose elements share memory is cloned as usual.
static Tensor clone_preserve_strides(const Tensor& self) {
  if (has_internal_overlap(self)) {
    return at::clone(self, MemoryFormat::Preserve);
  }
  const auto capacity = static_cast<int64_t>(self.storage().nbytes() / self.itemsize());
  const Tensor memory = as_view(self, capacity, int64_t(1), 0);
  return as_view(at::clone(memory), self.sizes(), self.strides(), self.storage_offset());
}

// Copies self, and copies src to the part of the copy that `view` returns.
template <typename View>
static Tensor scatter_into(const Tensor& self, const Tensor& src, const View& view) {
  const Tensor result = clone_preserve_strides(self);
  Tensor part = view(result);
  TORCH_CHECK(part.sizes() == src.sizes(),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  at::copy_(part, src);
  return result;
}

static void write_out(const Tensor& result, Tensor& out) {
  if (!out.defined()) {
    out = result;
    return;
  }
  TORCH_CHECK(out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              c10::dtypeName(result.scalar_type()), ", but got ", c10::dtypeName(out.scalar_type()), " instead");
  resize_output(out, result.sizes());
  at::copy_(out, result);
}

static void slice_scatter_out(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                              std::optional<int64_t> end, int64_t step, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim()); // raises first, before a bad step does
  write_out(scatter_into(self, src, [&](const Tensor& t) { return at::slice(t, dim, start, end, step); }), out);
}

static void select_scatter_out(const Tensor& self, const Tensor& src, int64_t dim, int64_t index, Tensor& out) {
  write_out(scatter_into(self, src, [&](const Tensor& t) { return at::select(t, dim, index); }), out);
}

static void diagonal_scatter_out(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2,
                                 Tensor& out) {
  write_out(scatter_into(self, src, [&](const Tensor& t) { return at::diagonal(t, offset, dim1, dim2); }), out);
}

static void as_strided_scatter_out(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                                   std::optional<int64_t> storage_offset, Tensor& out) {
  write_out(scatter_into(self, src, [&](const Tensor& t) { return at::as_strided(t, size, stride, storage_offset); }),
            out);
}

static Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(dim < self.dim(), "narrow_copy(): dimension ", dim, " of a tensor with ", self.dim(), " dimensions");
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(-size <= start && start <= size, "start out of range (expected to be in range of [", -size, ", ",
                    size, "], but got ", start, ")");
  return at::clone(at::narrow(self, dim, start, length), MemoryFormat::Contiguous);
}
static Tensor& narrow_copy_out(const Tensor& self, int64_t dim, int64_t start, int64_t length, Tensor& out) {
  write_out(narrow_copy(self, dim, start, length), out);
  return out;
}

// Fills the diagonal of a matrix, or the elements self[i, i, ..., i] of a cube. With `wrap`, a tall matrix gets another
// diagonal below each square, after a gap of one row.
static Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  TORCH_CHECK(self.dim() >= 2, "dimensions must larger than 1");
  const int64_t height = self.sizes()[0], width = self.sizes()[1];
  if (self.dim() > 2) {
    TORCH_CHECK(std::all_of(self.sizes().begin(), self.sizes().end(), [&](int64_t s) { return s == height; }),
                "all dimensions of input must be of equal length");
  }
  int64_t stride = 0;
  for (int64_t s : self.strides()) {
    stride += s;
  }
  const int64_t length = std::min(height, width);
  Tensor diagonal = as_view(self, length, stride);
  fill_impl(diagonal, fill_value);
  if (wrap && self.dim() == 2 && height > width + 1) {
    const int64_t step = width + 1, rows = height - step; // the rows below the first square and its gap
    for (int64_t first = 0; first < rows; first += step) {
      Tensor next = as_view(self, std::min(width, rows - first), stride,
                            self.storage_offset() + (step + first) * self.strides()[0]);
      fill_impl(next, fill_value);
    }
  }
  return self;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured(
      "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
      "Tensor",
      TORCH_FN(slice_scatter_out), tags(Tag::view_copy), derive::OUT);
  m.def_structured("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
                   TORCH_FN(select_scatter_out), derive::NONE);
  m.def_structured("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                   TORCH_FN(diagonal_scatter_out), derive::NONE);
  m.def_structured(
      "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, SymInt? storage_offset=None) -> Tensor",
      TORCH_FN(as_strided_scatter_out), derive::NONE);
  m.def_composite("narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", TORCH_FN(narrow_copy),
                  tags(Tag::view_copy));
  m.def_composite("narrow_copy.out(Tensor self, int dim, int start, int length, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(narrow_copy_out), variants::FUNCTION);
  m.def("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", TORCH_FN(fill_diagonal_),
        kernels(fill_stub, zero_stub), variants::METHOD);
}

} // namespace reftorch::at::native
