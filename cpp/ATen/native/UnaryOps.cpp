// Mirrors: aten/src/ATen/native/UnaryOps.cpp
// Functions of one tensor, element by element. Left out: complex numbers, special functions, round's `decimals`.
#include <ATen/native/UnaryOps.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/Copy.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(neg_stub)
DEFINE_DISPATCH(abs_stub)
DEFINE_DISPATCH(sign_stub)
DEFINE_DISPATCH(sqrt_stub)
DEFINE_DISPATCH(rsqrt_stub)
DEFINE_DISPATCH(reciprocal_stub)
DEFINE_DISPATCH(exp_stub)
DEFINE_DISPATCH(log_stub)
DEFINE_DISPATCH(log1p_stub)
DEFINE_DISPATCH(sin_stub)
DEFINE_DISPATCH(cos_stub)
DEFINE_DISPATCH(tanh_stub)
DEFINE_DISPATCH(sigmoid_stub)
DEFINE_DISPATCH(floor_stub)
DEFINE_DISPATCH(ceil_stub)
DEFINE_DISPATCH(round_stub)
DEFINE_DISPATCH(trunc_stub)
DEFINE_DISPATCH(bitwise_not_stub)
DEFINE_DISPATCH(logical_not_stub)

// The result has self's dtype; a given one must have it too.
static void check_same_dtype(const Tensor& self, const Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(), "Found dtype ", out.scalar_type(),
              " but expected ", self.scalar_type());
}

template <auto& stub>
static void unary_op_out(const Tensor& self, Tensor& out) {
  check_same_dtype(self, out);
  auto iter = TensorIterator::unary_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// The result of integers is of the default float dtype.
template <auto& stub>
static void unary_float_op_out(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_float_op(out, self);
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// Integers are whole already: they are copied.
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

static Tensor positive(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return at::alias(self);
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

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("neg(Tensor self) -> Tensor", TORCH_FN(neg_out));
  m.def_structured("abs(Tensor self) -> Tensor", TORCH_FN(unary_op_out<abs_stub>));
  m.def_structured("sign(Tensor self) -> Tensor", TORCH_FN(unary_op_out<sign_stub>));
  m.def_structured("bitwise_not(Tensor self) -> Tensor", TORCH_FN(unary_op_out<bitwise_not_stub>));
  m.def_structured("logical_not(Tensor self) -> Tensor", TORCH_FN(logical_not_out));

  m.def_structured("sqrt(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sqrt_stub>));
  m.def_structured("rsqrt(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<rsqrt_stub>));
  m.def_structured("reciprocal(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<reciprocal_stub>));
  m.def_structured("exp(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<exp_stub>));
  m.def_structured("log(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log_stub>));
  m.def_structured("log1p(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<log1p_stub>));
  m.def_structured("sin(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sin_stub>));
  m.def_structured("cos(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<cos_stub>));
  m.def_structured("tanh(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<tanh_stub>));
  m.def_structured("sigmoid(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<sigmoid_stub>));

  m.def_structured("floor(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<floor_stub>));
  m.def_structured("ceil(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<ceil_stub>));
  m.def_structured("round(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<round_stub>));
  m.def_structured("trunc(Tensor self) -> Tensor", TORCH_FN(rounding_op_out<trunc_stub>));

  m.def_composite("positive(Tensor(a) self) -> Tensor(a)", TORCH_FN(positive));
  m.def_composite("square(Tensor self) -> Tensor", TORCH_FN(square));
  m.def_composite("square_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(square_));
  m.def_composite("square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(square_out), variants::FUNCTION);
}

} // namespace reftorch::at::native
