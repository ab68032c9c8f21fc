// Mirrors: aten/src/ATen/native/TensorCompare.cpp, aten/src/ATen/native/ReduceOps.cpp
//
// Predicates composed of other ops: which elements are special, and whether two tensors are equal or close.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Copy.h>
#include <ATen/native/Fill.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/TensorFactories.h>

#include <limits>

namespace reftorch::at::native {

static Tensor isnan(const Tensor& self) {
  return at::ne(self, self);
}

static Tensor isinf(const Tensor& self) {
  if (!self.is_floating_point()) {
    return cast_to_dtype(at::zeros_like(self), kBool); // integers have no such values
  }
  return at::eq(at::abs(self), number(std::numeric_limits<double>::infinity()));
}

static Tensor isfinite(const Tensor& self) {
  if (!self.is_floating_point()) {
    return cast_to_dtype(at::ones_like(self), kBool);
  }
  return at::lt(at::abs(self), number(std::numeric_limits<double>::infinity()));
}

template <int sign>
static void is_infinity_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(!out.defined() || out.scalar_type() == kBool, sign > 0 ? "isposinf" : "isneginf",
              " does not support non-boolean outputs.");
  const bool floating = self.is_floating_point(); // no integer is infinite or differs from itself
  // allocates `out` with the strides that self alone gives
  TensorIteratorConfig().add_output(out, kBool).add_input(self).build();
  const Tensor other = floating ? number(sign * std::numeric_limits<double>::infinity()) : self;
  auto iter = TensorIterator::comparison_op(out, self, other);
  const auto& stub = floating ? eq_stub : ne_stub;
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

// Every element is real: complex tensors are left out.
static Tensor isreal(const Tensor& self) {
  Tensor result = empty_like_impl(self, kBool, std::nullopt, std::nullopt);
  fill_impl(result, true);
  return result;
}

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

// |self - other| <= atol + rtol * |other|, or self == other, which holds for equal infinities.
static Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), self.scalar_type(), " did not match ", other.scalar_type());
  TORCH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TORCH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  Tensor close = at::eq(self, other);
  if (equal_nan && self.is_floating_point()) {
    at::copy_(close, at::logical_or(close, at::logical_and(isnan(self), isnan(other))));
  }
  if (rtol == 0 && atol == 0) {
    return close;
  }
  const bool floating = self.is_floating_point();
  const ScalarType wide = get_default_dtype();
  const Tensor a = floating ? self : at::to(self, wide), b = floating ? other : at::to(other, wide);
  const Tensor allowed = at::add(at::abs(at::mul(b, number(rtol))), number(atol));
  const Tensor actual = at::abs(at::sub(a, b));
  // The result is written into the first comparison, because its strides follow from the inputs.
  return at::copy_(close, at::logical_or(close, at::logical_and(isfinite(actual), at::le(actual, allowed))));
}

static bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(isclose(self, other, rtol, atol, equal_nan)).item().toBool();
}

// Whether shapes and elements are equal; a NaN equals nothing, not even itself.
static bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !self.device().is_meta(), "aten::equal: attempted to run this operator with Meta ",
      "tensors, but there was no fake impl or Meta kernel registered. Hint: the answer depends ", "on the elements.");
  return self.sizes() == other.sizes() && at::all(at::eq(self, other)).item().toBool();
}

static bool is_nonzero(const Tensor& self) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return self.item().toBool();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("isnan(Tensor self) -> Tensor", TORCH_FN(isnan), tags(Tag::pointwise));
  m.def_composite("isinf(Tensor self) -> Tensor", TORCH_FN(isinf), tags(Tag::pointwise));
  m.def_composite("isfinite(Tensor self) -> Tensor", TORCH_FN(isfinite), tags(Tag::pointwise));
  m.def_structured("isposinf(Tensor self) -> Tensor", TORCH_FN(is_infinity_out<1>), kernels(eq_stub, ne_stub),
                   tags(Tag::pointwise), derive::OUT);
  m.def_structured("isneginf(Tensor self) -> Tensor", TORCH_FN(is_infinity_out<-1>), kernels(eq_stub, ne_stub),
                   tags(Tag::pointwise), derive::OUT);
  m.def("isreal(Tensor self) -> Tensor", TORCH_FN(isreal), kernels(fill_stub, zero_stub));
  m.def_composite("real(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself), variants::FUNCTION);
  m.def_composite("conj(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));
  m.def_composite("conj_physical(Tensor self) -> Tensor", TORCH_FN(itself), tags(Tag::pointwise));
  m.def_composite("conj_physical_(Tensor(a!) self) -> Tensor(a!)", TORCH_FN(itself_));
  m.def("conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TORCH_FN(conj_physical_out),
        kernels(copy_stub), variants::FUNCTION);
  m.def_composite("resolve_conj(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));
  m.def_composite("resolve_neg(Tensor(a) self) -> Tensor(a)", TORCH_FN(itself));
  m.def_composite(
      "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
      TORCH_FN(isclose));
  m.def_composite(
      "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
      TORCH_FN(allclose), tags(Tag::data_dependent_output));
  m.def_composite("equal(Tensor self, Tensor other) -> bool", TORCH_FN(equal),
                  tags(Tag::data_dependent_output, Tag::pointwise));
  m.def_composite("is_nonzero(Tensor self) -> bool", TORCH_FN(is_nonzero));
}

} // namespace reftorch::at::native
