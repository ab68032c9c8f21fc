// Mirrors: aten/src/ATen/native/Blas.cpp
//
// Products of a matrix and a vector, or of two vectors. Left out: complex numbers.
#include <ATen/native/Blas.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(addmv_stub)
DEFINE_DISPATCH(dot_stub)

// out (n) = beta * self + alpha * mat (n, m) @ vec (m)
static void addmv_out(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
                      Tensor& out) {
  TORCH_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got ",
              self.dim(), ", ", mat.dim(), ", ", vec.dim());
  TORCH_CHECK(mat.sizes()[1] == vec.sizes()[0] && (self.numel() == 1 || mat.sizes()[0] == self.numel()),
              "size mismatch, got input (", self.dim() == 0 ? 1 : self.sizes()[0], "), mat (", mat.sizes()[0], "x",
              mat.sizes()[1], "), vec (", vec.sizes()[0], ")");
  TORCH_CHECK(self.scalar_type() == mat.scalar_type() && mat.scalar_type() == vec.scalar_type(),
              "addmv input tensors must have the same dtype, but got ", self.scalar_type(), ", ", mat.scalar_type(),
              ", and ", vec.scalar_type());
  const bool inplace = out.defined() && out.is_same(self);
  TORCH_CHECK(!inplace || self.sizes() == IntArrayRef(mat.sizes()[0]), "Bad in-place call: input tensor size ",
              self.sizes(), " and output tensor size [", mat.sizes()[0], "] should match");
  if (!inplace) {
    if (!out.defined()) {
      out = detail::empty_generic(mat.sizes()[0], mat.scalar_type(), mat.device());
    }
    resize_output(out, mat.sizes()[0]);
    if (!beta.equal(0)) {
      at::copy_(out, self);
    }
  }
  if (mat.numel() == 0) { // only beta * self remains; a self of one element is not broadcast, as in PyTorch
    if (beta.equal(0)) {
      zero_impl(out);
    } else {
      at::mul_out(out, self, detail::scalar_tensor(beta, self.scalar_type()));
    }
    return;
  }
  if (out.numel() == 0) {
    return;
  }
  assert_no_overlap(out, mat); // the kernel writes an element of `out` before it has read all of its operands
  assert_no_overlap(out, vec);
  addmv_stub(mat.device().type(), out, mat, vec, beta, alpha);
}

static void mv_out(const Tensor& self, const Tensor& vec, Tensor& out) {
  const int64_t n = self.dim() == 0 ? 1 : self.sizes()[0];
  if (!out.defined()) { // beta is 0, so only the shape of self matters
    out = detail::empty_generic(n, vec.scalar_type(), self.device());
  } else {
    resize_output(out, n);
  }
  const Tensor addend = out;
  addmv_out(addend, self, vec, /*beta=*/0, /*alpha=*/1, out);
}

static Tensor dot(const Tensor& self, const Tensor& tensor) {
  TORCH_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(),
              "D tensors");
  TORCH_CHECK(self.scalar_type() == tensor.scalar_type(), "dot : expected both vectors to have same dtype, but found ",
              self.scalar_type(), " and ", tensor.scalar_type());
  TORCH_CHECK(self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor ", self.sizes(), " and src ",
              tensor.sizes(), " to have the same number of elements, but got ", self.numel(), " and ", tensor.numel(),
              " elements respectively");
  Tensor result = detail::empty_generic({}, self.scalar_type(), self.device());
  dot_stub(self.device().type(), result, self, tensor);
  return result;
}

template <Tensor (*product)(const Tensor&, const Tensor&)>
static Tensor& dot_out(const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "result dtype ", out.scalar_type(),
              " does not match input dtype ", self.scalar_type());
  resize_output(out, {});
  return at::copy_(out, product(self, other));
}

// The dot product of the conjugate of self with other; for real numbers this is dot.
static Tensor vdot(const Tensor& self, const Tensor& other) {
  return native::dot(self, other);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   TORCH_FN(addmv_out), kernels(fill_stub, zero_stub, addmv_stub));
  m.def_structured("mv(Tensor self, Tensor vec) -> Tensor", TORCH_FN(mv_out), kernels(fill_stub, zero_stub, addmv_stub),
                   derive::OUT);
  m.def("dot(Tensor self, Tensor tensor) -> Tensor", TORCH_FN(dot), kernels(dot_stub));
  m.def("dot.out(Tensor self, Tensor tensor, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(dot_out<native::dot>),
        kernels(dot_stub), variants::FUNCTION);
  m.def("vdot(Tensor self, Tensor other) -> Tensor", TORCH_FN(vdot), kernels(dot_stub));
  m.def("vdot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(dot_out<native::vdot>),
        kernels(dot_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
