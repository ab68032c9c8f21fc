// Mirrors: aten/src/ATen/native/TensorFactories.h, c10/core/TensorOptions.h
// What the factories share. PyTorch bundles dtype, layout, device and pin_memory in a TensorOptions; here they stay the
// four arguments the schema names.
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

// RuntimeError: no build has pinned memory yet.
TORCH_API void check_not_pinned(const OptionalBool& pin_memory);

// RuntimeError where a dtype is asked for and `out` has another.
TORCH_API void check_out_dtype(const OptionalType& dtype, const Tensor& out);

// Contents undefined.
TORCH_API Tensor empty_cpu(IntArrayRef size, OptionalType dtype, OptionalDevice device,
                           OptionalFormat format = std::nullopt);
// Of self's shape; dense, with the dimensions in self's order unless `format` says otherwise.
TORCH_API Tensor empty_like_impl(const Tensor& self, OptionalType dtype, OptionalDevice device, OptionalFormat format);

// Set every element, below the Dispatcher.
TORCH_API void fill_impl(Tensor& self, const Scalar& value);
TORCH_API void zero_impl(const Tensor& self);

} // namespace reftorch::at::native
