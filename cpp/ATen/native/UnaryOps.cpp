// Mirrors: aten/src/ATen/native/UnaryOps.cpp
//
// Functions of one tensor, applied to each element; the special functions are in UnarySpecialOps.cpp. Left out: complex
// numbers.
#include <ATen/native/UnaryOps.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/Copy.h>
#include <ATen/native/TensorFactories.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(neg_stub)
DEFINE_DISPATCH(abs_stub)
DEFINE_DISPATCH(sign_stub)
DEFINE_DISPATCH(sqrt_stub)
DEFINE_DISPATCH(rsqrt_stub)
DEFINE_DISPATCH(reciprocal_stub)
DEFINE_DISPATCH(exp_stub)
DEFINE_DISPATCH(expm1_stub)
DEFINE_DISPATCH(exp2_stub)
DEFINE_DISPATCH(log_stub)
DEFINE_DISPATCH(log1p_stub)
DEFINE_DISPATCH(log2_stub)
DEFINE_DISPATCH(log10_stub)
DEFINE_DISPATCH(sin_stub)
DEFINE_DISPATCH(cos_stub)
DEFINE_DISPATCH(tan_stub)
DEFINE_DISPATCH(asin_stub)
DEFINE_DISPATCH(acos_stub)
DEFINE_DISPATCH(atan_stub)
DEFINE_DISPATCH(sinh_stub)
DEFINE_DISPATCH(cosh_stub)
DEFINE_DISPATCH(tanh_stub)
DEFINE_DISPATCH(asinh_stub)
DEFINE_DISPATCH(acosh_stub)
DEFINE_DISPATCH(atanh_stub)
DEFINE_DISPATCH(sigmoid_stub)
DEFINE_DISPATCH(floor_stub)
DEFINE_DISPATCH(ceil_stub)
DEFINE_DISPATCH(round_stub)
DEFINE_DISPATCH(round_decimals_stub)
DEFINE_DISPATCH(trunc_stub)
DEFINE_DISPATCH(frac_stub)
DEFINE_DISPATCH(bitwise_not_stub)
DEFINE_DISPATCH(logical_not_stub)
DEFINE_DISPATCH(signbit_stub)
DEFINE_DISPATCH(angle_stub)
DEFINE_DISPATCH(deg2rad_stub)
DEFINE_DISPATCH(rad2deg_stub)
DEFINE_DISPATCH(nan_to_num_stub)
DEFINE_DISPATCH(frexp_stub)

template <auto& stub>
static void unary_op_out(const Tensor& self, Tensor& out) {
  check_same_dtype(self, out);
  auto iter = TensorIterator::unary_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// Integers give a result of the default float dtype.
template <auto& stub>
static void unary_float_op_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// A new result gets exactly the strides of self, also in dimensions of size 1.
template <auto& stub>
static void unary_float_op_like_out(const Tensor& self, Tensor& out) {
  if (!out.defined()) {
    const bool integral = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
    out = empty_like_impl(self, integral ? get_default_dtype() : self.scalar_type(), std::nullopt, std::nullopt);
  }
  unary_float_op_out<stub>(self, out);
}

// Integers are whole already, so they are copied.
template <auto& stub>
static void rounding_op_out(const Tensor& self, Tensor& out) {
  check_same_dtype(self, out);
  auto iter = TensorIterator::unary_op(out, self);
  if (c10::isIntegralType(iter.dtype(), /*includeBool=*/false)) {
    copy_stub(iter.device_type(), iter, /*non_blocking=*/false);
  } else {
    stub(iter.device_type(), iter);
  }
  iter.cast_outputs();
}

// Rounds to `decimals` digits after the decimal point; a negative `decimals` counts digits before the point.
static void round_decimals_out(const Tensor& self, int64_t decimals, Tensor& out) {
  if (decimals == 0) {
    unary_op_out<round_stub>(self, out); // raises for integers, as other values of `decimals` do
    return;
  }
  check_same_dtype(self, out);
  auto iter = TensorIterator::unary_op(out, self);
  round_decimals_stub(iter.device_type(), iter, decimals);
  iter.cast_outputs();
}

// Replaces NaN and the infinities by numbers: by default NaN by 0, and an infinity by the largest or the smallest
// number of the dtype. Integers have neither and are copied.
static void nan_to_num_out(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                           std::optional<double> neginf, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "nan_to_num: dtype of out: ", out.scalar_type(), " should be same as input: ", self.scalar_type());
  if (!out.defined()) {
    out = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
  }
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    resize_output(out, self.sizes());
    at::copy_(out, self);
    return;
  }
  auto iter = TensorIterator::unary_op(out, self);
  nan_to_num_stub(iter.device_type(), iter, nan, posinf, neginf);
  iter.cast_outputs();
}

static void neg_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.scalar_type() != kBool, "Negation, the `-` operator, on a bool tensor is not supported. ",
              "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  unary_op_out<neg_stub>(self, out);
}

// out = (self == 0), of dtype bool
static void logical_not_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIteratorConfig().add_output(out, kBool).add_input(self).build();
  logical_not_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// Reads the sign bit alone, so signbit(-0.0) is true.
static void signbit_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == kBool, "signbit does not support non-boolean outputs.");
  auto iter = TensorIteratorConfig().add_output(out, kBool).add_input(self).build();
  signbit_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// self = mantissa * 2^exponent; the absolute value of the mantissa is in [0.5, 1), or 0.
static void frexp_out(const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  TORCH_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes");
  TORCH_CHECK(!mantissa.defined() || mantissa.scalar_type() == self.scalar_type(),
              "torch.frexp() expects mantissa to have dtype ", self.scalar_type(), " but got ", mantissa.scalar_type());
  TORCH_CHECK(!exponent.defined() || exponent.scalar_type() == kInt,
              "torch.frexp() expects exponent to have int dtype but got ", exponent.scalar_type());
  if (!mantissa.defined()) {
    mantissa = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt);
    exponent = empty_like_impl(self, kInt, std::nullopt, std::nullopt);
  }
  auto iter = TensorIteratorConfig()
                  .add_output(mantissa, self.scalar_type())
                  .add_output(exponent, kInt)
                  .add_input(self)
                  .build();
  frexp_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static Tensor positive(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

static Tensor square(const Tensor& self) {
  return at::pow(self, 2);
}

static Tensor& square_(Tensor& self) {
  return at::pow_(self, 2);
}

static Tensor& square_out(const Tensor& self, Tensor& out) {
  return at::pow_out(out, self, 2);
}

// ---- the parts of complex numbers: every number here is real

static Tensor itself(const Tensor& self) {
  return self;
}

static Tensor& itself_(Tensor& self) {
  return self;
}

static Tensor& conj_physical_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Found dtype ", out.scalar_type(), " but expected ",
              self.scalar_type());
  auto iter = TensorIterator::unary_op(out, self);
  copy_stub(iter.device_type(), iter, /*non_blocking=*/false);
  return out;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("neg(Tensor self) -> Tensor", TORCH_FN(neg_out), kernels(neg_stub), tags(Tag::pointwise));
  m.def_structured("abs(Tensor self) -> Tensor", TORCH_FN(unary_op_out<abs_stub>), kernels(abs_stub),
                   tags(Tag::pointwise));
  m.def_structured("sign(Tensor self) -> Tensor", TORCH_FN(unary_op_out<sign_stub>), kernels(sign_stub),
                   tags(Tag::pointwise));
  m.def_structured("sgn(Tensor self) -> Tensor", TORCH_FN(unary_op_out<sign_stub>), kernels(sign_stub),
                   tags(Tag::pointwise)); // the two ops differ for complex numbers only
  m.def_structured("signbit(Tensor self) -> Tensor", TORCH_FN(signbit_out), kernels(signbit_stub), tags(Tag::pointwise),
                   derive::OUT);
  m.def_structured("bitwise_not(Tensor self) -> Tensor", TORCH_FN(unary_op_out<bitwise_not_stub>),
                   kernels(bitwise_not_stub), tags(Tag::pointwise));
  m.def_structured("logical_not(Tensor self) -> Tensor", TORCH_FN(logical_not_out), kernels(logical_not_stub),
                   tags(Tag::pointwise));

  m.def_structured("sqrt(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sqrt_stub>), kernels(sqrt_stub),
                   tags(Tag::pointwise));
  m.def_structured("rsqrt(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<rsqrt_stub>), kernels(rsqrt_stub),
                   tags(Tag::pointwise));
  m.def_structured("reciprocal(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<reciprocal_stub>),
                   kernels(reciprocal_stub), tags(Tag::pointwise));
  m.def_structured("exp(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<exp_stub>), kernels(exp_stub),
                   tags(Tag::pointwise));
  m.def_structured("expm1(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<expm1_stub>), kernels(expm1_stub),
                   tags(Tag::pointwise));
  m.def_structured("exp2(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<exp2_stub>), kernels(exp2_stub),
                   tags(Tag::pointwise));
  m.def_structured("log(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log_stub>), kernels(log_stub),
                   tags(Tag::pointwise));
  m.def_structured("log1p(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log1p_stub>), kernels(log1p_stub),
                   tags(Tag::pointwise));
  m.def_structured("log2(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log2_stub>), kernels(log2_stub),
                   tags(Tag::pointwise));
  m.def_structured("log10(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log10_stub>), kernels(log10_stub),
                   tags(Tag::pointwise));
  m.def_structured("sin(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sin_stub>), kernels(sin_stub),
                   tags(Tag::pointwise));
  m.def_structured("cos(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<cos_stub>), kernels(cos_stub),
                   tags(Tag::pointwise));
  m.def_structured("tan(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<tan_stub>), kernels(tan_stub),
                   tags(Tag::pointwise));
  m.def_structured("asin(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<asin_stub>), kernels(asin_stub),
                   tags(Tag::pointwise));
  m.def_structured("acos(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<acos_stub>), kernels(acos_stub),
                   tags(Tag::pointwise));
  m.def_structured("atan(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<atan_stub>), kernels(atan_stub),
                   tags(Tag::pointwise));
  m.def_structured("sinh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sinh_stub>), kernels(sinh_stub),
                   tags(Tag::pointwise));
  m.def_structured("cosh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<cosh_stub>), kernels(cosh_stub),
                   tags(Tag::pointwise));
  m.def_structured("tanh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<tanh_stub>), kernels(tanh_stub),
                   tags(Tag::pointwise));
  m.def_structured("asinh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<asinh_stub>), kernels(asinh_stub),
                   tags(Tag::pointwise));
  m.def_structured("acosh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<acosh_stub>), kernels(acosh_stub),
                   tags(Tag::pointwise));
  m.def_structured("atanh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<atanh_stub>), kernels(atanh_stub),
                   tags(Tag::pointwise));
  m.def_structured("sigmoid(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sigmoid_stub>), kernels(sigmoid_stub),
                   tags(Tag::pointwise));
  m.def_structured("angle(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<angle_stub>), kernels(angle_stub),
                   tags(Tag::pointwise), derive::OUT);
  m.def_structured("deg2rad(Tensor self) -> Tensor", TORCH_FN(unary_float_op_like_out<deg2rad_stub>),
                   kernels(deg2rad_stub), tags(Tag::pointwise));
  m.def_structured("rad2deg(Tensor self) -> Tensor", TORCH_FN(unary_float_op_like_out<rad2deg_stub>),
                   kernels(rad2deg_stub), tags(Tag::pointwise));

  m.def_structured("floor(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<floor_stub>),
                   kernels(floor_stub, copy_stub), tags(Tag::pointwise));
  m.def_structured("ceil(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<ceil_stub>), kernels(ceil_stub, copy_stub),
                   tags(Tag::pointwise));
  m.def_structured("round(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<round_stub>),
                   kernels(round_stub, copy_stub), tags(Tag::pointwise));
  m.def_structured("round.decimals(Tensor self, *, int decimals) -> Tensor", TORCH_FN(round_decimals_out),
                   kernels(round_decimals_stub, round_stub), tags(Tag::pointwise));
  m.def_structured("trunc(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<trunc_stub>),
                   kernels(trunc_stub, copy_stub), tags(Tag::pointwise));
  m.def_structured("frac(Tensor self) -> Tensor", TORCH_FN(unary_op_out<frac_stub>), kernels(frac_stub),
                   tags(Tag::pointwise));
  m.def_structured("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", TORCH_FN(frexp_out),
                   kernels(frexp_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
                   TORCH_FN(nan_to_num_out), kernels(nan_to_num_stub), tags(Tag::pointwise));

  m.def_composite("positive(Tensor(a) self) -> Tensor(a)", TORCH_FN(positive), tags(Tag::pointwise));
  m.def_composite("square(Tensor self) -> Tensor", TORCH_FN(square), tags(Tag::pointwise));
  m.def_composite("square_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(square_));
  m.def_composite("square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(square_out), variants::FUNCTION);

  m.def_composite("real(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself), variants::FUNCTION);
  m.def_composite("conj(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));
  m.def_composite("conj_physical(Tensor self) -> Tensor", TORCH_FN(itself), tags(Tag::pointwise));
  m.def_composite("conj_physical_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(itself_));
  m.def("conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(conj_physical_out),
        kernels(copy_stub), variants::FUNCTION);
  m.def_composite("resolve_conj(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));
  m.def_composite("resolve_neg(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));

  m.def_alias("negative", "neg");
  m.def_alias("absolute", "abs");
  m.def_alias("fix", "trunc");
  m.def_alias("arcsin", "asin");
  m.def_alias("arccos", "acos");
  m.def_alias("arctan", "atan");
  m.def_alias("arcsinh", "asinh");
  m.def_alias("arccosh", "acosh");
  m.def_alias("arctanh", "atanh");
}

} // namespace reftorch::at::native
