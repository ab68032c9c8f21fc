// Mirrors: aten/src/ATen/native/Resize.cpp
// Left out: memory formats.
#include <ATen/Resize.h>

#include <ATen/core/library.h>

namespace reftorch::at::native {

static Tensor& resize_op(Tensor& self, IntArrayRef size) {
  TORCH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  resize_(self, size);
  return self;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("resize_(Tensor(a!) self, int[] size) -> Tensor(a!)", TORCH_FN(resize_op), variants::METHOD);
}

} // namespace reftorch::at::native
