// Mirrors: aten/src/ATen/native/TypeProperties.cpp (result_type), c10/core/DefaultDtype.h
// The dtype of a result. Tensors with dimensions outrank 0-dim tensors, which outrank Python numbers; within a rank
// promoteTypes decides; a lower rank matters only if it is of a higher category (bool < integer < float).
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

TORCH_API ScalarType get_default_dtype();
// TypeError for a dtype that is not floating.
TORCH_API void set_default_dtype(ScalarType dtype);

struct ResultTypeState {
  ScalarType dimResult = ScalarType::Undefined;
  ScalarType zeroResult = ScalarType::Undefined;
  ScalarType wrappedResult = ScalarType::Undefined;
};
TORCH_API ResultTypeState update_result_type_state(const Tensor& tensor, const ResultTypeState& in);
TORCH_API ScalarType result_type(const ResultTypeState& state);
TORCH_API ScalarType result_type(const Tensor& a, const Tensor& b);
TORCH_API ScalarType result_type(TensorList tensors);

// A copy in another dtype, dense and with its dimensions in the same order: an input as its kernel computes with it.
// Not for values that autograd must see.
TORCH_API Tensor cast_to_dtype(const Tensor& self, ScalarType dtype);

} // namespace reftorch::at
