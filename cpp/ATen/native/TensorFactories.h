// Mirrors: aten/src/ATen/native/TensorFactories.h, c10/core/TensorOptions.h
//
// Functions that the factories share. PyTorch bundles dtype, layout, device and pin_memory in a TensorOptions; here
// they stay four arguments, as in the schema.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/TypePromotion.h>

#include <optional>

namespace reftorch::at::native {

using OptionalType = std::optional<ScalarType>;
using OptionalLayout = std::optional<c10::Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

inline ScalarType dtype_or_default(const OptionalType& dtype) {
  return dtype.value_or(ScalarType::Undefined) == ScalarType::Undefined ? get_default_dtype() : *dtype;
}

// Raises RuntimeError where `dtype` is given and `out` has another dtype.
TORCH_API void check_out_dtype(const OptionalType& dtype, const Tensor& out);

// Returns a tensor with undefined elements.
TORCH_API Tensor empty_impl(IntArrayRef size, OptionalType dtype, OptionalDevice device,
                            OptionalBool pin_memory = std::nullopt, OptionalFormat format = std::nullopt);
// Returns a dense tensor with self's shape and undefined elements. Its dimensions have the order in memory that self's
// have, unless `format` is given.
TORCH_API Tensor empty_like_impl(const Tensor& self, OptionalType dtype, OptionalDevice device,
                                 OptionalBool pin_memory = std::nullopt, OptionalFormat format = std::nullopt);
// Returns t, or a copy of t in pinned memory if `pin_memory` is true. A factory whose result another op made returns
// this.
TORCH_API Tensor pinned_if(const OptionalBool& pin_memory, const Tensor& t);

// Sets every element. The call does not go through the Dispatcher.
TORCH_API void fill_impl(Tensor& self, const Scalar& value);
TORCH_API void zero_impl(const Tensor& self);

} // namespace reftorch::at::native
