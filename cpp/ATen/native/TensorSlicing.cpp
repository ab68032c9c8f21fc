// Mirrors: aten/src/ATen/native/TensorShape.cpp (select, slice, narrow, diagonal, unbind, split, chunk), aten/src/ATen/TensorIndexing.h
//
// Views of a part of a tensor; more are in TensorSplit.cpp and Unfold.cpp. The copy forms (slice_copy and the like) are
// in ViewCopies.cpp.
#include <ATen/native/Fill.h>
#include <ATen/native/TensorShape.h>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>

namespace reftorch::at::native {

static Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK_INDEX(-size <= index && index < size, "select(): index ", index, " out of range for tensor of size ",
                    self.sizes(), " at dimension ", dim);
  index = index < 0 ? index + size : index;
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + index * strides[dim];
  sizes.erase(dim);
  strides.erase(dim);
  return as_view(self, sizes, strides, offset);
}

// The slice start:end:step, with Python's rules for start and end; step must be positive.
static Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step) {
  TORCH_CHECK_INDEX(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(step > 0, "slice step must be positive");
  const int64_t size = self.sizes()[dim];
  auto clamped = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t first = clamped(start.value_or(0));
  const int64_t last = std::max(first, clamped(end.value_or(size)));
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + first * strides[dim];
  // rounds up; (last - first + step - 1) could overflow
  sizes[dim] = (last - first) / step + ((last - first) % step != 0);
  // If the stride of the slice overflows, the slice has at most one element along this dimension, and its stride is
  // never used. The old stride then stays.
  int64_t stride = 0;
  strides[dim] = __builtin_mul_overflow(strides[dim], step, &stride) ? strides[dim] : stride;
  return as_view(self, sizes, strides, offset);
}

static Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(-size <= start && start <= size, "start out of range (expected to be in range of [", -size, ", ",
                    size, "], but got ", start, ")");
  start = start < 0 ? start + size : start;
  TORCH_CHECK(start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (", size,
              ").");
  return at::slice(self, dim, start, start + length, 1);
}

static Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  TORCH_CHECK(start.dim() == 0 && c10::isIntegralType(start.scalar_type(), /*includeBool=*/false),
              "start must be an 0-dim integral Tensor.");
  return native::narrow(self, dim, start.item().toLong(), length);
}

static Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t d1 = maybe_wrap_dim(dim1, self.dim()), d2 = maybe_wrap_dim(dim2, self.dim());
  TORCH_CHECK(d1 != d2, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t size1 = self.sizes()[d1], size2 = self.sizes()[d2], stride1 = self.strides()[d1],
                stride2 = self.strides()[d2];
  const int64_t length =
      std::max<int64_t>(offset >= 0 ? std::min(size1, size2 - offset) : std::min(size1 + offset, size2), 0);
  int64_t storage_offset = self.storage_offset();
  if (length > 0) {
    storage_offset += offset >= 0 ? offset * stride2 : -offset * stride1;
  }
  DimVector sizes(self.sizes()), strides(self.strides());
  for (int64_t d : {std::max(d1, d2), std::min(d1, d2)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(length);
  strides.push_back(stride1 + stride2);
  return as_view(self, sizes, strides, storage_offset);
}

static Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return at::diagonal(A, offset, dim1, dim2);
}

// --- several views at once -------------------------------------------------------------------------------------------

static std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  dim = maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < self.sizes()[dim]; i++) {
    tensors.push_back(native::select(self, dim, i));
  }
  return tensors;
}

static std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t size = self.size(dim);
  TORCH_CHECK(split_size > 0 || size == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  std::vector<Tensor> splits;
  split_size = std::min(split_size, size); // a larger split_size would only overflow
  for (int64_t start = 0; start < std::max<int64_t>(size, 1); start += std::max<int64_t>(split_size, 1)) {
    splits.push_back(native::slice(self, dim, start, std::min(start + split_size, size), 1));
  }
  return splits;
}

static std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  const int64_t size = self.size(dim);
  int64_t start = 0;
  std::vector<Tensor> splits;
  for (int64_t length : split_sizes) {
    TORCH_CHECK(
        length >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", split_sizes);
    TORCH_CHECK(length <= size - start, "split_with_sizes expects split_sizes to sum exactly to ", size,
                " (input tensor's size at dimension ", dim, "), but got split_sizes=", split_sizes);
    splits.push_back(native::slice(self, dim, start, start + length, 1));
    start += length;
  }
  TORCH_CHECK(start == size, "split_with_sizes expects split_sizes to sum exactly to ", size,
              " (input tensor's size at dimension ", dim, "), but got split_sizes=", split_sizes);
  return splits;
}

static std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return at::split_with_sizes(self, split_size, dim);
}

static std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim), split_size = size / chunks + (size % chunks != 0);
  if (split_size == 0 && size == 0) { // an empty dimension still gives the requested number of pieces
    return at::split_with_sizes(self, std::vector<int64_t>(static_cast<size_t>(chunks), 0), dim);
  }
  return at::split(self, split_size, dim);
}

// --- what backward needs: a tensor of zeros with the gradient in the place of the view -------------------------------

static Tensor zeros_for(const Tensor& grad, IntArrayRef input_sizes) {
  Tensor grad_input = empty_impl(input_sizes, grad.scalar_type(), grad.device());
  zero_impl(grad_input);
  return grad_input;
}

static Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  Tensor grad_input = zeros_for(grad_output, input_sizes);
  Tensor part = native::select(grad_input, dim, index);
  at::copy_(part, grad_output);
  return grad_input;
}

static Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start,
                             int64_t end, int64_t step) {
  Tensor grad_input = zeros_for(grad_output, input_sizes);
  Tensor part = native::slice(grad_input, dim, start, end, step);
  at::copy_(part, grad_output);
  return grad_input;
}

static Tensor diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1,
                                int64_t dim2) {
  Tensor grad_input = zeros_for(grad_output, input_sizes);
  Tensor part = native::diagonal(grad_input, offset, dim1, dim2);
  at::copy_(part, grad_output);
  return grad_input;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION;
  m.def("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", TORCH_FN(select));
  m.def("slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
        TORCH_FN(slice), FUNCTION);
  m.def_composite("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", TORCH_FN(narrow));
  m.def_composite("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
                  TORCH_FN(narrow_tensor));
  m.def("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", TORCH_FN(diagonal));
  m.def_composite("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
                  TORCH_FN(linalg_diagonal), variants::LINALG);
  m.def("unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", TORCH_FN(unbind));
  m.def("split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]", TORCH_FN(split));
  m.def_composite("split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]", TORCH_FN(split_sizes));
  m.def("split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", TORCH_FN(split_with_sizes));
  m.def_composite("chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]", TORCH_FN(chunk));
  m.def("select_backward(Tensor grad_output, int[] input_sizes, int dim, SymInt index) -> Tensor",
        TORCH_FN(select_backward), kernels(fill_stub, zero_stub), FUNCTION);
  m.def(
      "slice_backward(Tensor grad_output, int[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
      TORCH_FN(slice_backward), kernels(fill_stub, zero_stub), FUNCTION);
  m.def("diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
        TORCH_FN(diagonal_backward), kernels(fill_stub, zero_stub), FUNCTION);
}

} // namespace reftorch::at::native
