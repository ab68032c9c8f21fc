// Mirrors: aten/src/ATen/native/UnaryOps.cpp
//
// Special functions: erf and related functions, the logarithm of the gamma function and the derivatives of that
// logarithm, Bessel functions, the logit. The functions of torch.special that models do not use (airy_ai, bessel_j0,
// ...) are in BesselOps.cpp.
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
DEFINE_DISPATCH(special_entr_stub)
DEFINE_DISPATCH(special_erfcx_stub)
DEFINE_DISPATCH(special_log_ndtr_stub)
DEFINE_DISPATCH(special_ndtri_stub)

template <auto& stub>
static void special_op_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// out = log(x / (1 - x)), where x is self clamped to [eps, 1 - eps].
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

// The logarithm of the multivariate gamma function, which is the gamma function of p-by-p matrices.
static void mvlgamma_out(const Tensor& self, int64_t p, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "The input tensor may not be a boolean tensor.");
  TORCH_CHECK(p >= 1, "p has to be greater than or equal to 1");
  if (!out.defined()) { // contiguous, as PyTorch's result is, which comes from a sum
    const bool integral = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
    out = detail::empty_generic(self.sizes(), integral ? get_default_dtype() : self.scalar_type(), self.device());
  }
  auto iter = TensorIterator::unary_float_op(out, self);
  mvlgamma_stub(iter.device_type(), iter, p);
  iter.cast_outputs();
}

// The distribution function of the normal distribution, (1 + erf(x / sqrt 2)) / 2; computed with erfc where erfc keeps
// more digits.
static Tensor special_ndtr(const Tensor& self) {
  auto number = [](double value) { return detail::wrapped_scalar_tensor(value); };
  const Tensor x = at::mul(self, number(M_SQRT1_2));
  const Tensor middle = at::mul(at::add(number(1), at::erf(x)), number(0.5));
  const Tensor tail = at::mul(at::erfc(at::abs(x)), number(0.5));
  const Tensor far = at::where(at::lt(number(0), x), at::sub(number(1), tail), tail);
  return at::where(at::lt(at::abs(x), number(M_SQRT1_2)), middle, far);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("logit(Tensor self, float? eps=None) -> Tensor", TORCH_FN(logit_out), kernels(logit_stub),
                   tags(Tag::pointwise));
  m.def_structured("sinc(Tensor self) -> Tensor", TORCH_FN(special_op_out<sinc_stub>), kernels(sinc_stub),
                   tags(Tag::pointwise));
  m.def_structured("erf(Tensor self) -> Tensor", TORCH_FN(special_op_out<erf_stub>), kernels(erf_stub),
                   tags(Tag::pointwise));
  m.def_structured("erfc(Tensor self) -> Tensor", TORCH_FN(special_op_out<erfc_stub>), kernels(erfc_stub),
                   tags(Tag::pointwise));
  m.def_structured("erfinv(Tensor self) -> Tensor", TORCH_FN(special_op_out<erfinv_stub>), kernels(erfinv_stub),
                   tags(Tag::pointwise));
  m.def_structured("lgamma(Tensor self) -> Tensor", TORCH_FN(special_op_out<lgamma_stub>), kernels(lgamma_stub),
                   tags(Tag::pointwise));
  m.def_structured("digamma(Tensor self) -> Tensor", TORCH_FN(special_op_out<digamma_stub>), kernels(digamma_stub),
                   tags(Tag::pointwise));
  m.def_structured("polygamma(int n, Tensor self) -> Tensor", TORCH_FN(polygamma_out), kernels(polygamma_stub),
                   tags(Tag::pointwise), derive::OUT, variants::FUNCTION);
  m.def("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", TORCH_FN(polygamma_), kernels(polygamma_stub),
        tags(Tag::pointwise), variants::METHOD);
  m.def_structured("mvlgamma(Tensor self, int p) -> Tensor", TORCH_FN(mvlgamma_out), kernels(mvlgamma_stub),
                   tags(Tag::pointwise));
  m.def_structured("i0(Tensor self) -> Tensor", TORCH_FN(special_op_out<i0_stub>), kernels(i0_stub),
                   tags(Tag::pointwise));
  m.def_structured("special_i0e(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i0e_stub>),
                   kernels(special_i0e_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_i1(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i1_stub>),
                   kernels(special_i1_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_i1e(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_i1e_stub>),
                   kernels(special_i1e_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_entr(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_entr_stub>),
                   kernels(special_entr_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_erfcx(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_erfcx_stub>),
                   kernels(special_erfcx_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_log_ndtr(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_log_ndtr_stub>),
                   kernels(special_log_ndtr_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_structured("special_ndtri(Tensor self) -> Tensor", TORCH_FN(special_op_out<special_ndtri_stub>),
                   kernels(special_ndtri_stub), tags(Tag::pointwise), derive::OUT, variants::SPECIAL);
  m.def_composite_with_cast_out("special_ndtr(Tensor self) -> Tensor", TORCH_FN(special_ndtr), variants::SPECIAL);
}

} // namespace reftorch::at::native
