// Mirrors: aten/src/ATen/native/TensorCompare.cpp
//
// Ops that choose or clamp elements, and answers: which elements are special or in a set, and whether two tensors are
// equal or close. PyTorch has allclose and equal in ReduceOps.cpp.
#include <ATen/native/TensorCompare.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Fill.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/TensorFactories.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(where_kernel)
DEFINE_DISPATCH(clamp_stub)
DEFINE_DISPATCH(clamp_scalar_stub)

static Tensor as_dtype(const Tensor& t, ScalarType dtype) {
  return t.scalar_type() == dtype ? t : cast_to_dtype(t, dtype);
}

// out = condition ? self : other; the three broadcast.
static void where_out(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ", condition.scalar_type());
  if (condition.scalar_type() == kByte) {
    TORCH_WARN_ONCE(
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future ",
        "version of PyTorch. Use a boolean condition instead.");
  }
  const ScalarType dtype = result_type(self, other);
  TORCH_CHECK(!out.defined() || out.scalar_type() == dtype, "Expected out type to be ", dtype, " but got ",
              out.scalar_type());
  if (out.defined()) { // before the operands are cast: a cast copy overlaps nothing
    assert_no_internal_overlap(out);
    for (const Tensor* operand : {&condition, &self, &other}) {
      assert_no_partial_overlap(out, *operand);
    }
  }
  const Tensor mask = as_dtype(condition, kBool), a = as_dtype(self, dtype), b = as_dtype(other, dtype);
  auto iter = TensorIteratorConfig()
                  .add_output(out, dtype)
                  .add_input(mask)
                  .add_input(a)
                  .add_input(b)
                  .allow_cpu_scalars(true)
                  .build();
  where_kernel(iter.device_type(), iter);
  iter.cast_outputs();
}

static void bounds_check(bool has_min, bool has_max) {
  TORCH_CHECK(has_min || has_max, "torch.clamp: At least one of 'min' or 'max' must not be None");
}

// out = min(max(self, min), max); if min > max, the result is max. NaN stays NaN.
static void clamp_out(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
                      Tensor& out) {
  bounds_check(min.has_value(), max.has_value());
  ResultTypeState state = update_result_type_state(self, {});
  for (const auto& bound : {min, max}) {
    if (bound.has_value()) {
      state = update_result_type_state(detail::wrapped_scalar_tensor(*bound), state);
    }
  }
  const ScalarType dtype = result_type(state);
  TORCH_CHECK(!out.defined() || out.scalar_type() == dtype || !c10::canCast(dtype, out.scalar_type()), "Found dtype ",
              out.scalar_type(), " but expected ", dtype);
  const Tensor values = as_dtype(self, dtype);
  auto iter = TensorIterator::unary_op(out, values);
  auto is_nan = [](const std::optional<Scalar>& bound) { return bound.has_value() && std::isnan(bound->toDouble()); };
  if (is_nan(min) || is_nan(max)) {
    at::fill_(out, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  clamp_scalar_stub(iter.device_type(), iter, min, max);
  iter.cast_outputs();
}

static void clamp_tensor_out(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                             Tensor& out) {
  const bool has_min = min.has_value() && min->defined(), has_max = max.has_value() && max->defined();
  bounds_check(has_min, has_max);
  if (has_min && has_max) {
    auto iter = TensorIteratorConfig()
                    .add_output(out)
                    .add_input(self)
                    .add_input(*min)
                    .add_input(*max)
                    .promote_inputs_to_common_dtype(true)
                    .allow_cpu_scalars(true)
                    .build();
    clamp_stub(iter.device_type(), iter);
    iter.cast_outputs();
    return;
  }
  auto iter = TensorIterator::binary_op(out, self, has_min ? *min : *max);
  const auto& stub = has_min ? maximum_stub : minimum_stub;
  stub(iter.device_type(), iter);
  iter.cast_outputs();
}

static void clamp_min_out(const Tensor& self, const Scalar& min, Tensor& out) {
  clamp_out(self, min, std::nullopt, out);
}
static void clamp_max_out(const Tensor& self, const Scalar& max, Tensor& out) {
  clamp_out(self, std::nullopt, max, out);
}
static void clamp_min_tensor_out(const Tensor& self, const Tensor& min, Tensor& out) {
  clamp_tensor_out(self, min, std::nullopt, out);
}
static void clamp_max_tensor_out(const Tensor& self, const Tensor& max, Tensor& out) {
  clamp_tensor_out(self, std::nullopt, max, out);
}

// ---- which elements are special, and whether two tensors are equal or close: composed of other ops

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

// ---- which elements are in a set

// The result for the meta device, where the set has no values: one bool for each element.
static void prepare_bool_result(const Tensor& elements, Tensor& out) {
  if (out.defined()) {
    resize_output(out, elements.sizes());
  } else {
    out = detail::empty_generic(elements.sizes(), kBool, Device(c10::kMeta));
  }
}

// Returns a number of the program on the device of the other operand; every other tensor as it is.
static Tensor beside(const Tensor& t, const Tensor& other) {
  if (!t.unsafeGetTensorImpl()->is_wrapped_number_ || t.device() == other.device()) {
    return t;
  }
  Tensor moved = detail::empty_generic(t.sizes(), t.scalar_type(), other.device());
  return at::copy_(moved, t);
}

// The set is sorted, and each element is searched in it: O((n + m) log m).
static void isin_out(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert,
                     Tensor& out) {
  const ScalarType dtype = result_type(elements, test_elements);
  TORCH_CHECK(elements.scalar_type() != kBool && test_elements.scalar_type() != kBool,
              "Unsupported input type encountered for isin(): Bool");
  TORCH_CHECK(!out.defined() || out.scalar_type() == kBool, "Expected out tensor to have dtype bool, but got ",
              c10::dtypeName(out.defined() ? out.scalar_type() : kBool), " instead");
  if (elements.device().is_meta() || test_elements.device().is_meta()) {
    prepare_bool_result(elements, out);
    return;
  }
  const Tensor members = beside(test_elements, elements), candidates = beside(elements, test_elements);
  Tensor set = at::reshape(members.scalar_type() == dtype ? members : cast_to_dtype(members, dtype), {-1});
  set = at::index(set, {at::eq(set, set)}); // drops NaN, which equals nothing
  Tensor found;
  if (set.numel() == 0) {
    found = detail::empty_generic(elements.sizes(), kBool, candidates.device());
    zero_impl(found);
  } else {
    const Tensor values =
        at::contiguous(candidates.scalar_type() == dtype ? candidates : cast_to_dtype(candidates, dtype));
    const Tensor sorted = std::get<0>(at::sort(set));
    const Tensor last = detail::wrapped_scalar_tensor(sorted.numel() - 1);
    found = at::eq(at::index(sorted, {at::minimum(at::searchsorted(sorted, values), last)}), values);
  }
  if (invert) {
    found = at::logical_not(found);
  }
  if (out.defined()) {
    resize_output(out, found.sizes());
    at::copy_(out, found);
  } else {
    out = found;
  }
}
static void isin_tensor_scalar_out(const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert,
                                   Tensor& out) {
  isin_out(elements, detail::wrapped_scalar_tensor(test_element), assume_unique, invert, out);
}
static Tensor& isin_scalar_tensor_out(const Scalar& element, const Tensor& test_elements, bool assume_unique,
                                      bool invert, Tensor& out) {
  isin_out(detail::wrapped_scalar_tensor(element), test_elements, assume_unique, invert, out);
  return out;
}
static Tensor isin_scalar_tensor(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  Tensor out;
  return isin_scalar_tensor_out(element, test_elements, assume_unique, invert, out);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", TORCH_FN(where_out),
                   kernels(where_kernel), tags(Tag::numbers_as_operands, Tag::pointwise), derive::OUT,
                   variants::FUNCTION);
  m.def_structured("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", TORCH_FN(clamp_out),
                   kernels(clamp_scalar_stub), tags(Tag::pointwise));
  m.def_structured("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                   TORCH_FN(clamp_tensor_out), kernels(clamp_stub, maximum_stub, minimum_stub), tags(Tag::pointwise));
  m.def_structured("clamp_min(Tensor self, Scalar min) -> Tensor", TORCH_FN(clamp_min_out), kernels(clamp_scalar_stub),
                   tags(Tag::pointwise));
  m.def_structured("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", TORCH_FN(clamp_min_tensor_out),
                   kernels(maximum_stub), tags(Tag::pointwise));
  m.def_structured("clamp_max(Tensor self, Scalar max) -> Tensor", TORCH_FN(clamp_max_out), kernels(clamp_scalar_stub),
                   tags(Tag::pointwise));
  m.def_structured("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", TORCH_FN(clamp_max_tensor_out),
                   kernels(minimum_stub), tags(Tag::pointwise));
  m.def_alias("clip", "clamp");
  m.def_composite("isnan(Tensor self) -> Tensor", TORCH_FN(isnan), tags(Tag::pointwise));
  m.def_composite("isinf(Tensor self) -> Tensor", TORCH_FN(isinf), tags(Tag::pointwise));
  m.def_composite("isfinite(Tensor self) -> Tensor", TORCH_FN(isfinite), tags(Tag::pointwise));
  m.def_structured("isposinf(Tensor self) -> Tensor", TORCH_FN(is_infinity_out<1>), kernels(eq_stub, ne_stub),
                   tags(Tag::pointwise), derive::OUT);
  m.def_structured("isneginf(Tensor self) -> Tensor", TORCH_FN(is_infinity_out<-1>), kernels(eq_stub, ne_stub),
                   tags(Tag::pointwise), derive::OUT);
  m.def("isreal(Tensor self) -> Tensor", TORCH_FN(isreal), kernels(fill_stub, zero_stub));
  m.def_composite(
      "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
      TORCH_FN(isclose));
  m.def_composite(
      "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
      TORCH_FN(allclose), tags(Tag::data_dependent_output));
  m.def_composite("equal(Tensor self, Tensor other) -> bool", TORCH_FN(equal),
                  tags(Tag::data_dependent_output, Tag::pointwise));
  m.def_composite("is_nonzero(Tensor self) -> bool", TORCH_FN(is_nonzero));
  m.def_structured(
      "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      TORCH_FN(isin_out), kernels(fill_stub, zero_stub), derive::OUT, variants::FUNCTION);
  m.def_structured(
      "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      TORCH_FN(isin_tensor_scalar_out), kernels(fill_stub, zero_stub), derive::OUT, variants::FUNCTION);
  m.def(
      "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> "
      "Tensor",
      TORCH_FN(isin_scalar_tensor), kernels(fill_stub, zero_stub), variants::FUNCTION);
  m.def(
      "isin.Scalar_Tensor_out(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
      "invert=False, Tensor(a!) out) -> Tensor(a!)",
      TORCH_FN(isin_scalar_tensor_out), kernels(fill_stub, zero_stub), variants::FUNCTION);
}

} // namespace reftorch::at::native
