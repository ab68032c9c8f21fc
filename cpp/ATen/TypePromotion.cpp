// Mirrors: aten/src/ATen/native/TypeProperties.cpp, c10/core/DefaultDtype.cpp
#include <ATen/TypePromotion.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>

namespace reftorch::at {

static ScalarType default_dtype = kFloat;

ScalarType get_default_dtype() {
  return default_dtype;
}

void set_default_dtype(ScalarType dtype) {
  TORCH_CHECK_TYPE(c10::isFloatingType(dtype),
                   "only floating-point types are supported as the default type, got torch.", c10::dtypeName(dtype));
  default_dtype = dtype;
}

static ScalarType promote_skip_undefined(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) {
    return b;
  }
  return b == ScalarType::Undefined ? a : c10::promoteTypes(a, b);
}

ResultTypeState update_result_type_state(const Tensor& tensor, const ResultTypeState& in) {
  ResultTypeState state = in;
  if (!tensor.defined()) {
    return state;
  }
  ScalarType current = tensor.scalar_type();
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number_) {
    if (current == kDouble) {
      current = get_default_dtype(); // a Python float has the default dtype
    }
    state.wrappedResult = promote_skip_undefined(in.wrappedResult, current);
  } else if (tensor.dim() > 0) {
    state.dimResult = promote_skip_undefined(in.dimResult, current);
  } else {
    state.zeroResult = promote_skip_undefined(in.zeroResult, current);
  }
  return state;
}

static ScalarType combine_categories(ScalarType higher, ScalarType lower) {
  if (c10::isFloatingType(higher)) {
    return higher;
  }
  if (higher == kBool || c10::isFloatingType(lower)) {
    return promote_skip_undefined(higher, lower);
  }
  return higher != ScalarType::Undefined ? higher : lower;
}

ScalarType result_type(const ResultTypeState& state) {
  const ScalarType type =
      combine_categories(state.dimResult, combine_categories(state.zeroResult, state.wrappedResult));
  TORCH_CHECK_NOT_IMPLEMENTED(type != c10::kUInt64,
                              "A result of integers past 2**63 - 1 alone would be of dtype uint64, which is not there. "
                              "Hint: write them as floats.");
  return type;
}

ScalarType result_type(TensorList tensors) {
  ResultTypeState state;
  for (const Tensor& t : tensors) {
    state = update_result_type_state(t, state);
  }
  return result_type(state);
}

ScalarType result_type(const Tensor& a, const Tensor& b) {
  return result_type(update_result_type_state(b, update_result_type_state(a, {})));
}

Tensor cast_to_dtype(const Tensor& self, ScalarType dtype) {
  if (self.dim() == 0 && self.device().is_cpu()) { // the value is converted without a kernel
    return detail::scalar_tensor(detail::number_in(self), dtype);
  }
  const bool dense = self.unsafeGetTensorImpl()->is_non_overlapping_and_dense();
  const DimVector strides =
      dense ? DimVector(self.strides()) : detail::infer_dense_strides(self.sizes(), self.strides());
  Tensor cast = detail::empty_strided_generic(self.sizes(), strides, dtype, self.device());
  return at::copy_(cast, self);
}

} // namespace reftorch::at
