// Mirrors: aten/src/ATen/native/BinaryOps.cpp (special_chebyshev_polynomial_t, ...)
//
// Orthogonal polynomials, under the names they have in torch.special. The point x or the degree n may be a number
// instead of a tensor. None has a derivative, as in PyTorch.
#include <ATen/native/PolynomialOps.h>

#include <ATen/EmptyTensor.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(chebyshev_polynomial_t_stub)
DEFINE_DISPATCH(chebyshev_polynomial_u_stub)
DEFINE_DISPATCH(chebyshev_polynomial_v_stub)
DEFINE_DISPATCH(chebyshev_polynomial_w_stub)
DEFINE_DISPATCH(hermite_polynomial_h_stub)
DEFINE_DISPATCH(hermite_polynomial_he_stub)
DEFINE_DISPATCH(laguerre_polynomial_l_stub)
DEFINE_DISPATCH(legendre_polynomial_p_stub)
DEFINE_DISPATCH(shifted_chebyshev_polynomial_t_stub)
DEFINE_DISPATCH(shifted_chebyshev_polynomial_u_stub)
DEFINE_DISPATCH(shifted_chebyshev_polynomial_v_stub)
DEFINE_DISPATCH(shifted_chebyshev_polynomial_w_stub)

template <auto& stub>
static void polynomial_out(const Tensor& x, const Tensor& n, Tensor& out) {
  auto iter = TensorIterator::binary_float_op(out, x, n);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}
template <auto& stub>
static Tensor& polynomial_x_scalar_out(const Scalar& x, const Tensor& n, Tensor& out) {
  polynomial_out<stub>(detail::wrapped_scalar_tensor(x), n, out);
  return out;
}
template <auto& stub>
static Tensor polynomial_x_scalar(const Scalar& x, const Tensor& n) {
  Tensor out;
  return polynomial_x_scalar_out<stub>(x, n, out);
}
template <auto& stub>
static void polynomial_n_scalar_out(const Tensor& x, const Scalar& n, Tensor& out) {
  polynomial_out<stub>(x, detail::wrapped_scalar_tensor(n), out);
}

template <auto& stub>
static void define(Library& m, const std::string& name) {
  constexpr int SPECIAL = variants::SPECIAL;
  const std::string op = "special_" + name;
  m.def_structured(op + "(Tensor x, Tensor n) -> Tensor", TORCH_FN(polynomial_out<stub>), kernels(stub),
                   tags(Tag::pointwise), derive::OUT, SPECIAL);
  m.def(op + ".x_scalar(Scalar x, Tensor n) -> Tensor", TORCH_FN(polynomial_x_scalar<stub>), kernels(stub),
        tags(Tag::pointwise), SPECIAL);
  m.def(op + ".x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(polynomial_x_scalar_out<stub>), kernels(stub), tags(Tag::pointwise), SPECIAL);
  m.def_structured(op + ".n_scalar(Tensor x, Scalar n) -> Tensor", TORCH_FN(polynomial_n_scalar_out<stub>),
                   kernels(stub), tags(Tag::pointwise), derive::OUT, SPECIAL);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  define<chebyshev_polynomial_t_stub>(m, "chebyshev_polynomial_t");
  define<chebyshev_polynomial_u_stub>(m, "chebyshev_polynomial_u");
  define<chebyshev_polynomial_v_stub>(m, "chebyshev_polynomial_v");
  define<chebyshev_polynomial_w_stub>(m, "chebyshev_polynomial_w");
  define<hermite_polynomial_h_stub>(m, "hermite_polynomial_h");
  define<hermite_polynomial_he_stub>(m, "hermite_polynomial_he");
  define<laguerre_polynomial_l_stub>(m, "laguerre_polynomial_l");
  define<legendre_polynomial_p_stub>(m, "legendre_polynomial_p");
  define<shifted_chebyshev_polynomial_t_stub>(m, "shifted_chebyshev_polynomial_t");
  define<shifted_chebyshev_polynomial_u_stub>(m, "shifted_chebyshev_polynomial_u");
  define<shifted_chebyshev_polynomial_v_stub>(m, "shifted_chebyshev_polynomial_v");
  define<shifted_chebyshev_polynomial_w_stub>(m, "shifted_chebyshev_polynomial_w");
}

} // namespace reftorch::at::native
