// Mirrors: aten/src/ATen/native/UnaryOps.cpp
// Special functions: erf and its kin, the gamma function's logarithm and the derivatives of that, Bessel functions, the
// logit. Left out: those of torch.special that models do not use (airy_ai, the orthogonal polynomials, ...).
#include <ATen/native/UnaryOps.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>

#include <cmath>

namespace reftorch::at::native {

DEFINE_DISPATCH(logit_stub)
DEFINE_DISPATCH(sinc_stub)
DEFINE_DISPATCH(erf_stub)
DEFINE_DISPATCH(erfc_stub)
DEFINE_DISPATCH(erfinv_stub)
DEFINE_DISPATCH(lgamma_stub)
DEFINE_DISPATCH(digamma_stub)
DEFINE_DISPATCH(polygamma_stub)
DEFINE_DISPATCH(mvlgamma_stub)
DEFINE_DISPATCH(i0_stub)
DEFINE_DISPATCH(special_i0e_stub)
DEFINE_DISPATCH(special_i1_stub)
DEFINE_DISPATCH(special_i1e_stub)

template <auto& stub>
static void special_op_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// out = log(x / (1 - x)), with x = self kept within [eps, 1 - eps]
static void logit_out(const Tensor& self, std::optional<double> eps, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  logit_stub(iter.device_type(), iter, eps);
  iter.cast_outputs();
}

// The n-th derivative of digamma.
static void polygamma_out(int64_t n, const Tensor& self, Tensor& out) {
  TORCH_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  auto iter = TensorIterator::unary_float_op(out, self);
  polygamma_stub(iter.device_type(), iter, n);
  iter.cast_outputs();
}

static Tensor& polygamma_(Tensor& self, int64_t n) {
  polygamma_out(n, self, self);
  return self;
}

// The logarithm of the gamma function of p-by-p matrices.
static void mvlgamma_out(const Tensor& self, int64_t p, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "The input tensor may not be a boolean tensor.");
  TORCH_CHECK(p >= 1, "p has to be greater than or equal to 1");
  auto iter = TensorIterator::unary_float_op(out, self);
  mvlgamma_stub(iter.device_type(), iter, p);
  iter.cast_outputs();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("logit(Tensor self, float? eps=None) -> Tensor", TORCH_FN(logit_out));
  m.def_structured("sinc(Tensor self) -> Tensor", TORCH_FN(special_op_out<sinc_stub>));
  m.def_structured("erf(Tensor self) -> Tensor", TORCH_FN(special_op_out<erf_stub>));
  m.def_structured("erfc(Tensor self) -> Tensor", TORCH_FN(special_op_out<erfc_stub>));
  m.def_structured("erfinv(Tensor self) -> Tensor", TORCH_FN(special_op_out<erfinv_stub>));
  m.def_structured("lgamma(Tensor self) -> Tensor", TORCH_FN(special_op_out<lgamma_stub>));
  m.def_structured("digamma(Tensor self) -> Tensor", TORCH_FN(special_op_out<digamma_stub>));
  m.def_structured("polygamma(int n, Tensor self) -> Tensor", TORCH_FN(polygamma_out), derive::OUT, variants::FUNCTION);
  m.def("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", TORCH_FN(polygamma_), variants::METHOD);
  m.def_structured("mvlgamma(Tensor self, int p) -> Tensor", TORCH_FN(mvlgamma_out));
  m.def_structured("i0(Tensor self) -> Tensor", TORCH_FN(special_op_out<i0_stub>));
  m.def_structured("special_i0e(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i0e_stub>), derive::OUT,
                   variants::FUNCTION);
  m.def_structured("special_i1(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i1_stub>), derive::OUT,
                   variants::FUNCTION);
  m.def_structured("special_i1e(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i1e_stub>), derive::OUT,
                   variants::FUNCTION);
}

} // namespace reftorch::at::native
