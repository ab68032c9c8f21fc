// Mirrors: aten/src/ATen/native/TypeProperties.cpp (result_type), c10/core/DefaultDtype.h
//
// The dtype of a result. Operands have three priorities: tensors with dimensions, then 0-dim tensors, then Python
// numbers. promoteTypes combines the dtypes of one priority. Operands of a lower priority change the result only if
// their category is higher (bool < integer < float).
#pragma once

#include <ATen/core/Tensor.h>

namespace reftorch::at {

TORCH_API ScalarType get_default_dtype();
// Raises TypeError if the dtype is not a floating-point type.
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

// Returns a dense copy with another dtype and the same order of dimensions, in which a kernel reads its input. Autograd
// does not record the copy.
TORCH_API Tensor cast_to_dtype(const Tensor& self, ScalarType dtype);

} // namespace reftorch::at
