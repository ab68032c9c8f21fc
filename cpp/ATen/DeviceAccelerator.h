// Mirrors: aten/src/ATen/DeviceAccelerator.h
//
// The accelerator is the type of device with streams that this program can use: CUDA, or none.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <optional>

namespace reftorch::at {

// Returns nullopt if no library for an accelerator is loaded or no device exists. With `checked`, raises RuntimeError
// instead.
TORCH_API std::optional<c10::DeviceType> getAccelerator(bool checked = false);

// Whether devices of this type have streams, on which work continues after the call that enqueued it has returned.
inline bool isAccelerator(c10::DeviceType type) {
  return type == c10::kCUDA;
}

} // namespace reftorch::at
