// Mirrors: aten/src/ATen/native/GatedLinearUnit.cpp
//
// glu: one half of a tensor is multiplied by the sigmoid of the other half. Left out: the out= form of the backward,
// and ops for the second derivative, which is a formula in Python.
#include <ATen/native/GatedLinearUnit.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(glu_stub)
DEFINE_DISPATCH(glu_backward_stub)

// The dimension that is halved, counted from 0.
static int64_t check_glu(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t wrapped = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(self.size(wrapped) % 2 == 0, "Halving dimension must be even, but dimension ", wrapped, " is size ",
              self.size(wrapped));
  return wrapped;
}

static void glu_out(const Tensor& self, int64_t dim, Tensor& out) {
  const int64_t halved = check_glu(self, dim), n = self.size(halved) / 2;
  const Tensor a = at::narrow(self, halved, 0, n), b = at::narrow(self, halved, n, n); // the iterator borrows them
  auto iter = TensorIterator::binary_op(out, a, b);
  glu_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// grad_output: the shape of the result; grad_input: the shape of self
static Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t halved = check_glu(self, dim), n = self.size(halved) / 2;
  const Tensor a = at::narrow(self, halved, 0, n), b = at::narrow(self, halved, n, n);
  TORCH_CHECK(grad_output.sizes() == a.sizes(), "glu_backward: expected grad_output of shape ", a.sizes(), ", but got ",
              grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == self.scalar_type(), "glu_backward: expected grad_output and self of one ",
              "dtype, but got ", grad_output.scalar_type(), " and ", self.scalar_type());
  TORCH_CHECK(self.is_floating_point(), "result type Float can't be cast to the desired output type ",
              self.scalar_type());
  Tensor grad_input = detail::empty_generic(self.sizes(), self.scalar_type(), self.device());
  Tensor grad_a = at::narrow(grad_input, halved, 0, n), grad_b = at::narrow(grad_input, halved, n, n);
  // The first half has the form of glu: grad_output sigmoid(b).
  auto first = TensorIteratorConfig().add_output(grad_a).add_input(grad_output).add_input(b).build();
  glu_stub(first.device_type(), first);
  auto second = TensorIteratorConfig().add_output(grad_b).add_input(a).add_input(b).add_input(grad_output).build();
  glu_backward_stub(second.device_type(), second);
  return grad_input;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("glu(Tensor self, int dim=-1) -> Tensor", TORCH_FN(glu_out), kernels(glu_stub), derive::OUT,
                   variants::NN);
  m.def("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", TORCH_FN(glu_backward),
        kernels(glu_stub, glu_backward_stub), variants::NN, out_form("grad_input"));
}

} // namespace reftorch::at::native
