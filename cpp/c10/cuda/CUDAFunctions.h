// Mirrors: c10/cuda/CUDAFunctions.h
//
// The current device, and the number of devices. What happens when the host waits for
// a device. Left out: devices without a context.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <cuda_runtime.h>

namespace reftorch::c10::cuda {

// Returns 0 if there is no driver or no device. Never throws. The driver is asked only once.
C10_API DeviceIndex device_count() noexcept;
// Returns the number of devices. Raises RuntimeError if there is none.
C10_API DeviceIndex device_count_ensure_non_zero();

C10_API DeviceIndex current_device();
// Raises RuntimeError "CUDA error: invalid device ordinal" if the device does not exist.
C10_API void set_device(DeviceIndex device);
C10_API DeviceIndex exchange_device(DeviceIndex device);
// Waits until all streams of the current device have finished their work.
C10_API void device_synchronize();

// What an op does that makes the host wait for a device. See torch.cuda.set_sync_debug_mode.
enum class SyncDebugMode : uint8_t { L_DISABLED, L_WARN, L_ERROR };
C10_API SyncDebugMode sync_debug_mode();
C10_API void set_sync_debug_mode(SyncDebugMode mode);
// Warns or raises RuntimeError, if the mode says so. An op calls this function before it waits.
C10_API void warn_or_error_on_sync();

} // namespace reftorch::c10::cuda
