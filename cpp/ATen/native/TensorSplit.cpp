// Mirrors: aten/src/ATen/native/TensorShape.cpp (tensor_split, hsplit, vsplit, dsplit, unsafe_split, ...)
//
// Splits that numpy has (array_split, hsplit and the like), and splits that autograd does not treat as views.
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/functorch/TensorWrapper.h>

#include <vector>

namespace reftorch::at::native {

static int64_t checked_split_dim(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  return maybe_wrap_dim(dim, self.dim());
}

// Sections whose sizes differ by at most one: the first sections are the larger ones.
static std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  dim = checked_split_dim(self, dim);
  TORCH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t size = self.sizes()[dim], least = size / sections, with_one_more = size % sections;
  std::vector<Tensor> splits;
  splits.reserve(static_cast<size_t>(sections)); // raises at once where there is no memory for so many sections
  int64_t start = 0;
  for (int64_t i = 0; i < sections; i++) {
    const int64_t length = least + (i < with_one_more);
    splits.push_back(at::slice(self, dim, start, start + length));
    start += length;
  }
  return splits;
}

static std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, int64_t dim) {
  dim = checked_split_dim(self, dim);
  std::vector<Tensor> splits;
  int64_t start = 0;
  for (int64_t end : indices) {
    splits.push_back(at::slice(self, dim, start, end));
    start = end;
  }
  splits.push_back(at::slice(self, dim, start, self.sizes()[dim]));
  return splits;
}

static std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& tensor_indices_or_sections,
                                               int64_t dim) {
  const Tensor& places = tensor_indices_or_sections;
  TORCH_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  TORCH_CHECK(places.device().is_cpu(), "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
              places.device());
  TORCH_CHECK(places.scalar_type() == kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ", places.scalar_type());
  TORCH_CHECK(
      places.dim() <= 1,
      "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
      "got a tensor with ",
      places.dim(), " dims");
  if (places.dim() == 0) {
    return tensor_split_sections(self, places.item().toLong(), dim);
  }
  const Tensor dense = functorch::materialize(places, "calling .item()");
  DimVector indices;
  for (int64_t i = 0; i < dense.numel(); i++) {
    indices.push_back(at::select(dense, 0, i).item().toLong());
  }
  return tensor_split_indices(self, indices, dim);
}

// --- numpy's: along a fixed dimension, into parts of one size --------------------------------------------------------

struct NumpySplit {
  const char* name;
  int64_t min_dims;
  int64_t dim;
};
constexpr NumpySplit kHsplit = {"hsplit", 1, 1}, kVsplit = {"vsplit", 2, 0}, kDsplit = {"dsplit", 3, 2};

// The dimension to split; hsplit splits a vector along its only dimension.
static int64_t dim_of(const NumpySplit& kind, const Tensor& self) {
  TORCH_CHECK(self.dim() >= kind.min_dims, "torch.", kind.name, " requires a tensor with at least ", kind.min_dims,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");
  return self.dim() == 1 ? 0 : kind.dim;
}

template <const NumpySplit& kind>
static std::vector<Tensor> numpy_split(const Tensor& self, int64_t sections) {
  const int64_t dim = dim_of(kind, self), size = self.sizes()[dim];
  TORCH_CHECK(sections != 0 && size % sections == 0, "torch.", kind.name, " attempted to split along dimension ", dim,
              ", but the size of the dimension ", size, " is not divisible by the split_size ", sections, "!");
  return tensor_split_sections(self, sections, dim);
}

template <const NumpySplit& kind>
static std::vector<Tensor> numpy_split_indices(const Tensor& self, IntArrayRef indices) {
  return tensor_split_indices(self, indices, dim_of(kind, self));
}

// --- unsafe: the parts share memory, and autograd does not know: nobody may write to one and use another -------------

static std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return at::split(self, split_size, dim);
}

static std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return at::split_with_sizes(self, split_sizes, dim);
}

static std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  if (size == 0) {
    return at::unsafe_split_with_sizes(self, std::vector<int64_t>(static_cast<size_t>(chunks), 0), dim);
  }
  return at::unsafe_split(self, size / chunks + (size % chunks != 0), dim);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]",
                  TORCH_FN(tensor_split_sections));
  m.def_composite("tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]",
                  TORCH_FN(tensor_split_indices));
  m.def_composite(
      "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) -> "
      "Tensor(a)[]",
      TORCH_FN(tensor_split_tensor));
  m.def_composite("hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", TORCH_FN(numpy_split<kHsplit>));
  m.def_composite("hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", TORCH_FN(numpy_split_indices<kHsplit>));
  m.def_composite("vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", TORCH_FN(numpy_split<kVsplit>));
  m.def_composite("vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", TORCH_FN(numpy_split_indices<kVsplit>));
  m.def_composite("dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", TORCH_FN(numpy_split<kDsplit>));
  m.def_composite("dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", TORCH_FN(numpy_split_indices<kDsplit>));
  m.def("unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", TORCH_FN(unsafe_split));
  m.def("unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
        TORCH_FN(unsafe_split_with_sizes));
  m.def_composite("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", TORCH_FN(unsafe_chunk));
}

} // namespace reftorch::at::native
