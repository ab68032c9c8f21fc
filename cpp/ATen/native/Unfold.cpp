// Mirrors: aten/src/ATen/native/TensorShape.cpp (unfold), aten/src/ATen/native/UnfoldBackward.cpp
//
// A window of length `size` moves along a dimension in steps of `step`. The number of window positions replaces the
// size of the dimension, and the elements of a window become a new last dimension. The result is a view, and windows
// may overlap.
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>

namespace reftorch::at::native {

static Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  dimension = maybe_wrap_dim(dimension, self.dim());
  const int64_t max_size = self.dim() == 0 ? 1 : self.sizes()[dimension];
  TORCH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  TORCH_CHECK(size <= max_size, "maximum size for tensor at dimension ", dimension, " is ", max_size, " but size is ",
              size);
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : self.strides()[dimension]);
  if (self.dim() > 0) {
    sizes[dimension] = (max_size - size) / step + 1;
    // If the new stride overflows, there is at most one window and the stride is never used. The old stride then stays.
    int64_t stride = 0;
    strides[dimension] = __builtin_mul_overflow(strides[dimension], step, &stride) ? strides[dimension] : stride;
  }
  return as_view(self, sizes, strides);
}

// grad_in (..., positions, ..., size). The gradient of an input element is the sum over the windows that contain the
// element: one strided addition for each position within the window.
static Tensor unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor grad_input = empty_impl(input_sizes, grad_in.scalar_type(), grad_in.device());
  zero_impl(grad_input);
  if (input_sizes.empty()) {
    if (size > 0) {
      Tensor only = at::view(grad_input, {1});
      at::copy_(only, grad_in);
    }
    return grad_input;
  }
  dim = maybe_wrap_dim(dim, grad_input.dim());
  const int64_t last_start = (grad_in.size(dim) - 1) * step;
  for (int64_t place = 0; place < size; place++) {
    Tensor touched = at::slice(grad_input, dim, place, place + last_start + 1, step);
    at::add_(touched, at::select(grad_in, -1, place));
  }
  return grad_input;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", TORCH_FN(unfold), variants::METHOD);
  m.def("unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
        TORCH_FN(unfold_backward), kernels(fill_stub, zero_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
