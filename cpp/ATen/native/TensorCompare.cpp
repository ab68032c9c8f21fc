// Mirrors: aten/src/ATen/native/TensorCompare.cpp
//
// Ops that choose or clamp elements. Which elements are special, and whether tensors are close, is in
// TensorPredicates.cpp. Left out: mode, isin.
#include <ATen/native/TensorCompare.h>

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/BinaryOps.h>

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
}

} // namespace reftorch::at::native
