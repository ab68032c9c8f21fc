// Mirrors: aten/src/ATen/native/BinaryOps.cpp, aten/src/ATen/native/Pow.cpp (float_power)
//
// Mathematical functions of two tensors; the special functions are in BinarySpecialOps.cpp.
#include <ATen/native/BinaryOps.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(fmax_stub)
DEFINE_DISPATCH(fmin_stub)
DEFINE_DISPATCH(atan2_stub)
DEFINE_DISPATCH(hypot_stub)
DEFINE_DISPATCH(xlogy_stub)
DEFINE_DISPATCH(logaddexp_stub)
DEFINE_DISPATCH(logaddexp2_stub)
DEFINE_DISPATCH(copysign_stub)
DEFINE_DISPATCH(nextafter_stub)
DEFINE_DISPATCH(heaviside_stub)
DEFINE_DISPATCH(ldexp_stub)
DEFINE_DISPATCH(gcd_stub)
DEFINE_DISPATCH(lcm_stub)

// Integers give a result of the default float dtype.
template <auto& stub>
static void binary_float_op_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_float_op(out, self, other);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// out = self * 2^other. If self is floating and other is an integer, the kernel adds `other` to the exponent, which is
// exact. Otherwise the power of two is computed first and multiplied.
static void ldexp_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!self.is_floating_point()) {
    binary_op_out<mul_stub>(self, at::pow(Scalar(2.), other), out);
    return;
  }
  if (other.is_floating_point()) { // the product has the promoted dtype
    binary_op_out<mul_stub>(self, at::pow(detail::scalar_tensor(2., self.scalar_type()), other), out);
    return;
  }
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(), "ldexp expects out of dtype ",
              self.scalar_type(), ", got ", out.scalar_type());
  binary_float_op_out<ldexp_stub>(self, other, out);
}

// 0 where self is below zero, 1 where self is above zero, `values` where self is zero.
static void heaviside_out(const Tensor& self, const Tensor& values, Tensor& out) {
  TORCH_CHECK(self.scalar_type() == values.scalar_type() && (!out.defined() || out.scalar_type() == self.scalar_type()),
              "heaviside is not yet implemented for tensors with different dtypes.");
  binary_op_out<heaviside_stub>(self, values, out);
}

// --- powers, always computed in double -------------------------------------------------------------------------------

static void check_double(const Tensor& t, const char* what, const char* name) {
  TORCH_CHECK(t.scalar_type() == kDouble, "the ", what, " given to ", name, " has dtype ", t.scalar_type(),
              " but the operation's result requires dtype Double");
}

static Tensor float_power_tensor_tensor(const Tensor& self, const Tensor& exponent) {
  return at::pow(at::to(self, kDouble), at::to(exponent, kDouble));
}
static Tensor float_power_tensor_scalar(const Tensor& self, const Scalar& exponent) {
  return at::pow(at::to(self, kDouble), Scalar(exponent.toDouble()));
}
static Tensor float_power_scalar(const Scalar& self, const Tensor& exponent) {
  return at::pow(Scalar(self.toDouble()), at::to(exponent, kDouble));
}

static Tensor& float_power_tensor_(Tensor& self, const Tensor& exponent) {
  check_double(self, "base", "float_power_");
  return at::pow_(self, at::to(exponent, kDouble));
}
static Tensor& float_power_scalar_(Tensor& self, const Scalar& exponent) {
  check_double(self, "base", "float_power_");
  return at::pow_(self, Scalar(exponent.toDouble()));
}

static Tensor& float_power_tensor_tensor_out(const Tensor& self, const Tensor& exponent, Tensor& out) {
  check_double(out, "output", "float_power");
  return at::pow_out(out, at::to(self, kDouble), at::to(exponent, kDouble));
}
static Tensor& float_power_scalar_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  check_double(out, "output", "float_power");
  return at::pow_out(out, detail::wrapped_scalar_tensor(self.toDouble()), at::to(exponent, kDouble));
}
static Tensor& float_power_tensor_scalar_out(const Tensor& self, const Scalar& exponent, Tensor& out) {
  check_double(out, "output", "float_power");
  return at::pow_out(out, at::to(self, kDouble), Scalar(exponent.toDouble()));
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int FUNCTION = variants::FUNCTION, METHOD = variants::METHOD;
  m.def_structured("fmax(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<fmax_stub>),
                   kernels(fmax_stub, maximum_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("fmin(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<fmin_stub>),
                   kernels(fmin_stub, minimum_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("atan2(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_float_op_out<atan2_stub>),
                   kernels(atan2_stub), tags(Tag::pointwise));
  m.def_structured("hypot(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<hypot_stub>),
                   kernels(hypot_stub), tags(Tag::pointwise));
  m.def_structured("logaddexp(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<logaddexp_stub>),
                   kernels(logaddexp_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("logaddexp2(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<logaddexp2_stub>),
                   kernels(logaddexp2_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_float_op_out<xlogy_stub>),
                   kernels(xlogy_stub), tags(Tag::pointwise));
  m.def_structured("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
                   TORCH_FN(scalar_tensor_out<binary_float_op_out<xlogy_stub>>), kernels(xlogy_stub),
                   tags(Tag::pointwise), derive::OUT, FUNCTION);
  m.def_structured("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(tensor_scalar_out<binary_float_op_out<xlogy_stub>>), kernels(xlogy_stub),
                   tags(Tag::pointwise));
  m.def_structured("copysign.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_float_op_out<copysign_stub>),
                   kernels(copysign_stub), tags(Tag::pointwise));
  m.def_structured("copysign.Scalar(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(tensor_scalar_out<binary_float_op_out<copysign_stub>>), kernels(copysign_stub),
                   tags(Tag::pointwise));
  m.def_structured("nextafter(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<nextafter_stub>),
                   kernels(nextafter_stub), tags(Tag::pointwise));
  m.def_structured("heaviside(Tensor self, Tensor values) -> Tensor", TORCH_FN(heaviside_out), kernels(heaviside_stub),
                   tags(Tag::pointwise));
  m.def_structured("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(ldexp_out),
                   kernels(ldexp_stub, mul_stub), tags(Tag::pointwise));
  m.def_structured("gcd(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<gcd_stub>), kernels(gcd_stub),
                   tags(Tag::pointwise));
  m.def_structured("lcm(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<lcm_stub>), kernels(lcm_stub),
                   tags(Tag::pointwise));
  m.def_alias("arctan2", "atan2");

  m.def_composite("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                  TORCH_FN(float_power_tensor_tensor), tags(Tag::pointwise));
  m.def_composite("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                  TORCH_FN(float_power_tensor_scalar), tags(Tag::pointwise));
  m.def_composite("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", TORCH_FN(float_power_scalar),
                  tags(Tag::pointwise), FUNCTION);
  m.def_composite("float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", TORCH_FN(float_power_tensor_),
                  tags(Tag::pointwise), METHOD);
  m.def_composite("float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", TORCH_FN(float_power_scalar_),
                  METHOD);
  m.def_composite("float_power.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(float_power_tensor_tensor_out), FUNCTION);
  m.def_composite("float_power.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(float_power_tensor_scalar_out), FUNCTION);
  m.def_composite("float_power.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(float_power_scalar_out), FUNCTION);
}

} // namespace reftorch::at::native
