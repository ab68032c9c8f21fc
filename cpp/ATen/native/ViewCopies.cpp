// Mirrors: torchgen/gen_functionalization_type.py (which makes PyTorch's view_copy ops)
//
// Defines an op that copies for each view op: its result shares no memory with the input.
#include <ATen/Functions.h>
#include <ATen/core/library.h>

#include <vector>

namespace reftorch::at::native {

static Tensor copied(const Tensor& view) {
  return at::clone(view, MemoryFormat::Contiguous);
}

static std::vector<Tensor> copied(const std::vector<Tensor>& views) {
  std::vector<Tensor> copies;
  for (const Tensor& view : views) {
    copies.push_back(copied(view));
  }
  return copies;
}

static Tensor alias_copy(const Tensor& self) {
  return copied(self);
}
static Tensor detach_copy(const Tensor& self) {
  return copied(at::detach(self));
}
static Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                              std::optional<int64_t> storage_offset) {
  return copied(at::as_strided(self, size, stride, storage_offset));
}
static Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return copied(at::diagonal(self, offset, dim1, dim2));
}
static Tensor expand_copy(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
  return copied(at::expand(self, size));
}
static Tensor permute_copy(const Tensor& self, IntArrayRef dims) {
  return copied(at::permute(self, dims));
}
static Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return copied(at::select(self, dim, index));
}
static Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                         int64_t step) {
  return copied(at::slice(self, dim, start, end, step));
}
static Tensor t_copy(const Tensor& self) {
  return copied(at::t(self));
}
static Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return copied(at::transpose(self, dim0, dim1));
}
static Tensor unsqueeze_copy(const Tensor& self, int64_t dim) {
  return copied(at::unsqueeze(self, dim));
}
static Tensor squeeze_dim_copy(const Tensor& self, int64_t dim) {
  return copied(at::squeeze(self, dim));
}
static Tensor view_copy(const Tensor& self, IntArrayRef size) {
  return at::view(copied(self), size); // works also where the strides of self allow no view
}

static Tensor squeeze_copy(const Tensor& self) {
  return copied(at::squeeze(self));
}
static Tensor squeeze_dims_copy(const Tensor& self, IntArrayRef dim) {
  return copied(at::squeeze(self, dim));
}
static Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return copied(at::unfold(self, dimension, size, step));
}
static std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) {
  return copied(at::unbind(self, dim));
}
static std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return copied(at::split(self, split_size, dim));
}
static std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return copied(at::split_with_sizes(self, split_sizes, dim));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def_composite_with_out("alias_copy(Tensor self) -> Tensor", TORCH_FN(alias_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("detach_copy(Tensor self) -> Tensor", TORCH_FN(detach_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out(
      "as_strided_copy(Tensor self, int[] size, int[] stride, SymInt? storage_offset=None) -> Tensor",
      TORCH_FN(as_strided_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                           TORCH_FN(diagonal_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("expand_copy(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
                           TORCH_FN(expand_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("permute_copy(Tensor self, int[] dims) -> Tensor", TORCH_FN(permute_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", TORCH_FN(select_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out(
      "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
      TORCH_FN(slice_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("t_copy(Tensor self) -> Tensor", TORCH_FN(t_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", TORCH_FN(transpose_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("unsqueeze_copy(Tensor self, int dim) -> Tensor", TORCH_FN(unsqueeze_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("squeeze_copy(Tensor self) -> Tensor", TORCH_FN(squeeze_copy), tags(Tag::view_copy),
                           FUNCTION);
  m.def_composite_with_out("squeeze_copy.dim(Tensor self, int dim) -> Tensor", TORCH_FN(squeeze_dim_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", TORCH_FN(squeeze_dims_copy),
                           tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor",
                           TORCH_FN(unfold_copy), tags(Tag::view_copy), FUNCTION);
  m.def_composite_with_out("view_copy(Tensor self, int[] size) -> Tensor", TORCH_FN(view_copy), tags(Tag::view_copy),
                           FUNCTION);
  m.def_composite("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", TORCH_FN(unbind_copy), tags(Tag::view_copy),
                  FUNCTION);
  m.def_composite("split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", TORCH_FN(split_copy),
                  tags(Tag::view_copy), FUNCTION);
  m.def_composite("split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
                  TORCH_FN(split_with_sizes_copy), tags(Tag::view_copy), FUNCTION);
}

} // namespace reftorch::at::native
