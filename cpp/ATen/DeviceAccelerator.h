// Mirrors: aten/src/ATen/DeviceAccelerator.h
//
// The accelerator is the one type of device with streams that this program can use: CUDA, or nothing.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <optional>

namespace reftorch::at {

// Nothing where no library for an accelerator is loaded or no device is there. With `checked`, RuntimeError instead.
TORCH_API std::optional<c10::DeviceType> getAccelerator(bool checked = false);

// Devices with streams, whose work goes on after the call that asked for it.
inline bool isAccelerator(c10::DeviceType type) {
  return type == c10::kCUDA;
}

} // namespace reftorch::at
