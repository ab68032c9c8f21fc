// Mirrors: c10/cuda/CUDAFunctions.h
//
// The current device, and how many there are. Left out: synchronization debug modes, devices without a context.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <cuda_runtime.h>

namespace reftorch::c10::cuda {

// 0 where there is no driver or no device; never throws. The answer is asked for once.
C10_API DeviceIndex device_count() noexcept;
// The same, but RuntimeError where there is no device.
C10_API DeviceIndex device_count_ensure_non_zero();

C10_API DeviceIndex current_device();
// RuntimeError "CUDA error: invalid device ordinal" for a device that does not exist.
C10_API void set_device(DeviceIndex device);
C10_API DeviceIndex exchange_device(DeviceIndex device);
// Waits until all streams of the current device have done their work.
C10_API void device_synchronize();

} // namespace reftorch::c10::cuda
