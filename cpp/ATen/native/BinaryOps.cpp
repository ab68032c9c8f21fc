// Mirrors: aten/src/ATen/native/BinaryOps.cpp
//
// Arithmetic of two tensors: schema, checks and shape; the kernels are in cpu/BinaryOpsKernel.cpp. Comparisons, logic
// and bits are in BinaryLogicOps.cpp, mathematical functions in BinaryMathOps.cpp. Left out: complex numbers.
//
// The Scalar overloads of add, sub, mul and div are called by C++ code, whose graph then shows MulBackward1 instead of
// MulBackward0. torch.mul(x, 2) does not reach them, because the binding makes a 0-dim tensor of a number.
#include <ATen/native/BinaryOps.h>

#include <ATen/Functions.h>
#include <ATen/core/library.h>

namespace reftorch::at::native {

DEFINE_DISPATCH(add_stub)
DEFINE_DISPATCH(mul_stub)
DEFINE_DISPATCH(div_true_stub)
DEFINE_DISPATCH(div_trunc_stub)
DEFINE_DISPATCH(div_floor_stub)
DEFINE_DISPATCH(remainder_stub)
DEFINE_DISPATCH(fmod_stub)
DEFINE_DISPATCH(maximum_stub)
DEFINE_DISPATCH(minimum_stub)
DEFINE_DISPATCH(sigmoid_backward_stub)
DEFINE_DISPATCH(tanh_backward_stub)

// alpha must fit the dtype that alpha multiplies: a float alpha is an error for integers, a bool alpha for numbers.
static void alpha_check(ScalarType dtype, const Scalar& alpha) {
  TORCH_CHECK(!alpha.isBoolean() || dtype == kBool, "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(c10::isFloatingType(dtype) || alpha.isIntegral(/*includeBool=*/true),
              "For integral input tensors, argument alpha must not be a floating point number.");
}

// out = self + alpha * other
static void add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  alpha_check(iter.common_dtype(), alpha);
  add_stub(iter.device_type(), iter, alpha);
  iter.cast_outputs();
}

static void sub_check(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.scalar_type() != kBool || other.scalar_type() != kBool,
              "Subtraction, the `-` operator, with two bool tensors is not ",
              "supported. Use the `^` or `logical_xor()` operator instead.");
  TORCH_CHECK(self.scalar_type() != kBool && other.scalar_type() != kBool,
              "Subtraction, the `-` operator, with a bool tensor is not ",
              "supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
}

// out = self - alpha * other
static void sub_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  sub_check(self, other);
  auto iter = TensorIterator::binary_op(out, self, other);
  alpha_check(iter.common_dtype(), alpha);
  add_stub(iter.device_type(), iter, -alpha);
  iter.cast_outputs();
}

// other - alpha * self: Python calls rsub where the left operand is a number.
static Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Tensor out;
  sub_out(other, self, alpha, out);
  return out;
}

static Tensor rsub_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return rsub(self, detail::wrapped_scalar_tensor(other), alpha);
}

// out = self * other
static void mul_out(const Tensor& self, const Tensor& other, Tensor& out) {
  binary_op_out<mul_stub>(self, other, out);
}

// out = self / other; integers give a quotient of the default float dtype.
static void div_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_float_op(out, self, other);
  div_true_stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static void div_mode_out(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode,
                         Tensor& out) {
  if (!rounding_mode.has_value()) {
    div_out(self, other, out);
  } else if (*rounding_mode == "trunc") {
    binary_op_out<div_trunc_stub>(self, other, out);
  } else if (*rounding_mode == "floor") {
    binary_op_out<div_floor_stub>(self, other, out);
  } else {
    TORCH_CHECK(false, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *rounding_mode,
                "'");
  }
}

static Tensor true_divide(const Tensor& self, const Tensor& other) {
  return at::div(self, other);
}
static Tensor& true_divide_(Tensor& self, const Tensor& other) {
  return at::div_(self, other);
}
static Tensor& true_divide_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other);
}

static void add_scalar_out(const Tensor& self, const Scalar& other, const Scalar& alpha, Tensor& out) {
  add_out(self, detail::wrapped_scalar_tensor(other), alpha, out);
}
static void sub_scalar_out(const Tensor& self, const Scalar& other, const Scalar& alpha, Tensor& out) {
  sub_out(self, detail::wrapped_scalar_tensor(other), alpha, out);
}
static void mul_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  mul_out(self, detail::wrapped_scalar_tensor(other), out);
}
static void div_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  div_out(self, detail::wrapped_scalar_tensor(other), out);
}

// grad_input = grad_output * output * (1 - output)
static void sigmoid_backward_out(const Tensor& grad_output, const Tensor& output, Tensor& grad_input) {
  binary_op_out<sigmoid_backward_stub>(grad_output, output, grad_input);
}

// grad_input = grad_output * (1 - output^2)
static void tanh_backward_out(const Tensor& grad_output, const Tensor& output, Tensor& grad_input) {
  binary_op_out<tanh_backward_stub>(grad_output, output, grad_input);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", TORCH_FN(add_out),
                   kernels(add_stub), tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def_structured("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", TORCH_FN(sub_out),
                   kernels(add_stub), tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def("rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", TORCH_FN(rsub), kernels(add_stub));
  m.def("rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", TORCH_FN(rsub_scalar), kernels(add_stub),
        tags(Tag::pointwise));
  m.def_structured("mul.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(mul_out), kernels(mul_stub),
                   tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def_structured("div.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(div_out), kernels(div_true_stub),
                   tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def_structured("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", TORCH_FN(add_scalar_out),
                   kernels(add_stub), tags(Tag::pointwise), variants::NONE);
  m.def_structured("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", TORCH_FN(sub_scalar_out),
                   kernels(add_stub), tags(Tag::pointwise), variants::NONE);
  m.def_structured("mul.Scalar(Tensor self, Scalar other) -> Tensor", TORCH_FN(mul_scalar_out), kernels(mul_stub),
                   tags(Tag::pointwise), variants::NONE);
  m.def_structured("div.Scalar(Tensor self, Scalar other) -> Tensor", TORCH_FN(div_scalar_out), kernels(div_true_stub),
                   tags(Tag::pointwise), variants::NONE);
  m.def_structured("div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
                   TORCH_FN(div_mode_out), kernels(div_true_stub, div_trunc_stub, div_floor_stub),
                   tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def_composite("true_divide.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(true_divide),
                  tags(Tag::numbers_as_tensors, Tag::pointwise));
  m.def_composite("true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", TORCH_FN(true_divide_),
                  tags(Tag::numbers_as_tensors), variants::METHOD);
  m.def_composite("true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
                  TORCH_FN(true_divide_out), tags(Tag::numbers_as_tensors), variants::FUNCTION);
  m.def_structured("floor_divide(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<div_floor_stub>),
                   kernels(div_floor_stub), tags(Tag::numbers_as_tensors));
  m.def_structured("remainder.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<remainder_stub>),
                   kernels(remainder_stub), tags(Tag::pointwise));
  m.def_structured("remainder.Scalar(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(tensor_scalar_out<binary_op_out<remainder_stub>>), kernels(remainder_stub),
                   tags(Tag::pointwise));
  m.def_structured("remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
                   TORCH_FN(scalar_tensor_out<binary_op_out<remainder_stub>>), kernels(remainder_stub),
                   tags(Tag::pointwise), derive::NONE, variants::FUNCTION);
  m.def_structured("fmod.Tensor(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<fmod_stub>),
                   kernels(fmod_stub), tags(Tag::pointwise));
  m.def_structured("fmod.Scalar(Tensor self, Scalar other) -> Tensor",
                   TORCH_FN(tensor_scalar_out<binary_op_out<fmod_stub>>), kernels(fmod_stub), tags(Tag::pointwise));
  m.def_structured("maximum(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<maximum_stub>),
                   kernels(maximum_stub), tags(Tag::pointwise), derive::OUT);
  m.def_structured("minimum(Tensor self, Tensor other) -> Tensor", TORCH_FN(binary_op_out<minimum_stub>),
                   kernels(minimum_stub), tags(Tag::pointwise), derive::OUT);

  m.def_structured("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", TORCH_FN(sigmoid_backward_out),
                   kernels(sigmoid_backward_stub), tags(Tag::pointwise), variants::NN, derive::OUT,
                   out_form("grad_input"));
  m.def_structured("tanh_backward(Tensor grad_output, Tensor output) -> Tensor", TORCH_FN(tanh_backward_out),
                   kernels(tanh_backward_stub), tags(Tag::pointwise), variants::NN, derive::OUT,
                   out_form("grad_input"));

  m.def_alias("subtract", "sub");
  m.def_alias("multiply", "mul");
  m.def_alias("divide", "div");
}

} // namespace reftorch::at::native
